"""Wrong answers as formulas: a rule in steps, and what students write instead of a step."""
