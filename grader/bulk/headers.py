"""The headers of a roster, in the words of many systems and languages, as one word each."""

import re
from collections.abc import Mapping
from typing import Final
from unicodedata import normalize

# The first of these columns that is there holds the id under which a student is known here.
IDS: Final = (
    "student_id",
    "student id",
    "学号",
    "sis user id",
    "sid",
    "sis login id",
    "username",
    "user name",
    "login",
    "login_id",
    "github_username",
    "identifier",
    "id",
    "canvas_id",
    "anonymous_id",
    "participant",
    "brightspace_id",
    "email",
    "email address",
    "student",
)
NAMES: Final = ("name", "student", "姓名")
FIRST: Final = "first name"
LAST: Final = "last name"
GROUPS: Final = ("group", "team")
MAIL: Final = ("email", "email address")
# Without marks, in lower case; a header is compared without marks, too.
_WORDS: Final[Mapping[str, str]] = {
    "student id": """
        student number|student no|student nr|student nr|studentid|student id number|id number
        |university id|campus id|netid|net id|utorid|unikey|zid|orgdefinedid|org defined id
        |matriculation number|matriculation no|matric no|matric number|matrikelnummer|matrikelnr
        |matrikel nr|matrikel|matr nr|id nummer|numéro d étudiant|numéro étudiant|n étudiant
        |no étudiant|code étudiant|numéro d identification|matricule|número de estudiante
        |número de matrícula|número de id|matrícula|matricula|número de aluno|numero di matricola
        |studentnummer|numer albumu|nr albumu|öğrenci no|öğrenci numarası|学籍番号|学生番号
        |id号|학번|номер студента|mã số sinh viên|mssv|nim""",
    "学号": "學號|学生学号|学生编号|学生id|学工号|考号",
    "identifier": "kennung|identifiant|identificador|identificatore|идентификатор|标识符|识别码",
    "username": """
        benutzername|anmeldename|nom d utilisateur|nombre de usuario|usuario|nome de usuário
        |nome utente|gebruikersnaam|用户名|ユーザ名|userid|user id""",
    "login_id": "login id",
    "github_username": "github username|github user|github login|github id|github handle|github",
    "canvas_id": "canvas id|canvas user id",
    "anonymous_id": "anonymous id",
    "brightspace_id": "brightspace id",
    "email": """
        e mail|mail|e mail address|mail address|email adresse|e mail adresse|emailadresse
        |adresse e mail|adresse de courriel|courriel|correo|correo electrónico
        |dirección de correo|dirección de correo electrónico|endereço de e mail
        |endereço de email|indirizzo email|e mailadres|邮箱|电子邮箱|电子邮件|电子邮件地址
        |メールアドレス|이메일""",
    "name": """
        full name|fullname|student name|display name|vollständiger name|nom complet
        |nombre completo|nome completo|volledige naam|全名|名字|学生姓名|氏名|名前|성명|이름|фио""",
    FIRST: """
        first names|firstname|given name|given names|forename|vorname|vorname n|prénom|prénoms
        |nombre|nombres|nome|voornaam""",
    LAST: """
        lastname|last names|surname|family name|nachname|familienname|nom|nom de famille|apellido
        |apellidos|apellido s|cognome|sobrenome|achternaam""",
    "group": "group name|groups|gruppe|groupe|grupo|gruppo|groep|小组|组别|分组",
    "team": "team name|teams",
}
_KNOWN: Final = {
    word.strip(): key for key, words in _WORDS.items() for word in words.split("|") if word.strip()
}
# What stands for an empty cell.
_NOTHING: Final = frozenset({"-", "--", "/", "n/a", "#n/a", "none", "无"})
_TOTAL = re.compile(
    r"\W*(?:(?:(?:sub|grand )?totals?|summe|gesamt|average|mean|median|points possible"
    r"|max(?:imum)? points|number of students)(?:\W.*)?"
    r"|(?:合计|总计|总数|平均|人数|共).*)",
    re.IGNORECASE | re.DOTALL,
)
# How programs keep a number from losing its zeros: `="0012"`, `'0012`, `#0012`.
_AS_TEXT = re.compile(r'="([^"]*)"|[\'#](?=\w)(.*)', re.DOTALL)


def known(column: str) -> str:
    """The column as the lists above write it; unknown ones in lower case."""
    lower = " ".join(column.lower().split())
    if lower in IDS:
        return lower
    if "学号" in lower:
        return "学号"
    if "姓名" in lower:
        return "姓名"
    plain = " ".join(re.sub(r"[\W_]+", " ", normalize("NFC", lower)).split())
    return plain if plain in IDS else _KNOWN.get(plain, lower)


def value(cell: str) -> str:
    """A cell's text, composed; empty for the signs that stand for nothing."""
    text = normalize("NFC", cell.strip())
    if (kept := _AS_TEXT.fullmatch(text)) is not None:
        text = (kept[1] or kept[2] or "").strip()
    return "" if text.lower() in _NOTHING else text


def is_total(cell: str) -> bool:
    """Whether a row that begins with this counts the class and is nobody of it."""
    return _TOTAL.fullmatch(cell) is not None


def participant(value: str) -> str:
    """`12345` of `Participant 12345`, as Moodle's grading worksheet writes it in any language."""
    return re.sub(r"^(?:participant|teilnehmer|partecipante|deelnemer|участник|参与者)\D*(?=\d+$)",
        "", value, flags=re.IGNORECASE)  # fmt: skip
