"""What the name of a column says about its role: words in English, German, French and Spanish.

Accents are dropped before words are compared (`diagnóstico` is `diagnostico`, `Vermögen` is
`vermogen`). In a name of several words the last one that is known decides, for it is the head:
a `tax_id` is a number of a person, a `disease_name` a disease, a `salary_region` a region. Words
before `of`, `at` or `de` go behind: a `date_of_birth` is a birth date.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

#: Whatever else the name says, the column names a person or leads to one.
_IDENTIFIER = """
surname firstname lastname forename fullname givenname middlename nickname maidenname initials
username login password passwd mail email phone telephone mobile cellphone tel fax skype twitter
facebook instagram linkedin website homepage url ip ipaddress mac imei imsi msisdn cookie
address street housenumber photo picture portrait fingerprint signature
ssn ssno nhs nhsnumber nino mrn npi passport iban account acct license licence licenseplate plate
vin pesel bsn cpf curp aadhaar taxid taxnumber insurancenumber creditcard
vorname nachname zuname rufname familienname geburtsname telefon handy mobil mobilnummer anschrift
adresse strasse hausnummer ausweis personalausweis reisepass fuhrerschein fuehrerschein kennzeichen
autokennzeichen svnr steuerid steueridnr kvnr ahv aktenzeichen kontonummer passwort benutzername
prenom patronyme courriel rue domicile nir insee nss matricule permis carte
apellido apellidos correo telefono movil direccion calle domicilio dni nie nif rfc matricula
licencia pasaporte cuenta
"""
#: Numbers and keys of rows, which may also be codes of something that few rows differ in.
KEYS = """
id ids uuid guid pk key hash hashed token pseudonym pseudonyme pseudonymized pseudonymised pseudo
identifier identification identifiant identificador identificacion kennung kennnummer schlussel
"""
#: Names of people, or of whatever the other words name.
_NAME = "name names nom noms namen nombres"
#: When a record was made: an exact time leads back to it.
_TIMESTAMP = """
created updated modified inserted recorded registered logged timestamp datetime ts
erstellt angelegt geandert zeitstempel horodatage cree modifie creado modificado registrado
"""
_TEXT = """
note notes comment comments remark remarks narrative memo freetext transcript feedback anamnesis
bemerkung bemerkungen kommentar kommentare anmerkung anmerkungen freitext notiz notizen anamnese
remarque remarques commentaire commentaires observaciones observations comentario comentarios notas
"""
_SENSITIVE = """
salary salaries income incomes wage wages earning earnings pay payroll paid compensation bonus
stipend capital tax taxes debt debts loan loans credit mortgage savings balance wealth assets
networth benefit benefits welfare pension pensions allowance alimony bankruptcy insolvency
unemployment foodstamps medicaid
disease diseases diagnosis diagnoses diagnostic dx condition conditions illness symptom symptoms
comorbidity comorbidities medication medications medicine drug drugs treatment treatments therapy
prescription surgery procedure icd icd9 icd10 icd11 icd10cm snomed drg allergy allergies allergic
pregnancy pregnant gravida abortion miscarriage contraception hiv aids std sti hepatitis cancer
tumor tumour carcinoma diabetes diabetic asthma depression anxiety psychiatric mental suicide
suicidal addiction substance alcohol smoker smoking smokes tobacco drinker drinking cannabis
cocaine opioid dementia epilepsy stroke infarction hypertension disability disabled handicap
impairment covid covid19 vaccination vaccinated vaccine genotype genome gene dna mutation
cd4 viral viralload systolic diastolic bp sbp dbp bloodpressure blood bmi hba1c a1c glucose
cholesterol ldl hdl triglycerides creatinine gfr egfr hemoglobin haemoglobin psa tsh crp platelets
hematocrit ferritin bilirubin albumin phq9 gad7 mmse lab test testresult result results finding
findings outcome prognosis severity
conviction convictions convicted crime crimes criminal offence offences offense offenses arrest
arrests arrested felony recidivism verdict prison jail abuse violence assault
religion religious belief faith denomination party vote voted voting political politics
orientation sexual sexuality union score scores grade grades gpa
gehalt einkommen lohn verdienst vergutung rente renten sozialhilfe burgergeld wohngeld
arbeitslosengeld kindergeld schulden kredit vermogen steuer steuern diagnose diagnosen krankheit
krankheiten erkrankung erkrankungen vorerkrankung vorerkrankungen befund befunde medikament
medikamente medikation therapie behandlung symptome allergie allergien schwanger schwangerschaft
behinderung pflegegrad pflegestufe raucher raucherin rauchen blutdruck systolisch diastolisch
blutzucker viruslast testergebnis ergebnis impfung impfstatus sucht alkohol vorstrafe vorstrafen
verurteilung straftat straftaten konfession partei gewerkschaft
revenu revenus salaire salaires remuneration traitement retraite allocation allocations dette
dettes impot impots patrimoine maladie maladies pathologie diagnostics symptome medicament
medicaments grossesse enceinte fumeur fumeuse tabac tension systolique diastolique glycemie
resultat resultats condamnation condamnations casier syndicat imc
salario sueldo ingreso ingresos renta nomina deuda deudas impuesto impuestos prestacion
prestaciones subsidio enfermedad enfermedades diagnostico diagnosticos sintoma sintomas medicamento
medicamentos medicacion tratamiento alergia alergias embarazo embarazada discapacidad fumador
fumadora tabaco presion sistolica diastolica glucosa resultado resultados condena condenas
antecedentes sindicato partido
"""
_QUASI = """
age ages sex gender zip zipcode zip3 zip5 postcode postal birthplace
nationality citizenship citizen race ethnicity ethnic origin marital married
civil relationship spouse education educational degree school schooling university qualification
occupation occupational job profession employer employment workclass industry sector region regional
city town village municipality county district borough state province country nation language area
zone neighborhood neighbourhood parish tract lat latitude lon lng long longitude geo gps geohash
coord coords coordinate coordinates easting northing location place residence household family
children kids dependents dependants siblings height hair veteran military
alter lebensalter geschlecht plz postleitzahl geburtsort
beruf familienstand zivilstand staatsangehorigkeit nationalitat herkunft ethnie bildung
schulabschluss bildungsabschluss abschluss ausbildung arbeitgeber branche wohnort ort stadt gemeinde
kreis landkreis bundesland land staat bezirk stadtteil sprache muttersprache kinder kinderzahl
haushalt haushaltsgrosse breitengrad langengrad laengengrad korpergrosse
sexe genre nationalite origine ville commune departement pays langue metier
emploi etudes diplome employeur enfants menage quartier lieu
edad sexo genero nacionalidad etnia raza origen ciudad municipio provincia
pais barrio estado idioma lengua profesion ocupacion empleo estudios educacion titulo empleador
hijos hogar latitud longitud
"""
#: Quasi-identifiers that are days, or what happened on one, which may be numbered instead.
_DATED = """
birth birthdate birthday birthyear dob yob born date admission admitted discharge discharged hired
geburtsdatum geburtsjahr geburtstag geboren datum aufnahmedatum entlassungsdatum
naissance anniversaire nacimiento cumpleanos fecha
"""
#: Words that stand for opposite things, and what to ask.
_AMBIGUOUS = {
    **dict.fromkeys(
        ("weight", "weights", "wgt", "fnlwgt", "pweight", "gewicht", "gewichte", "poids", "peso"),
        "the weight of a person is sensitive; a survey's weight may tell its person apart",
    ),
}
#: Words that belong together: what they stand for as one.
_PHRASES = {
    "identifier": "tax id|tax number|tax no|tax nr|social security|national insurance|national id|"
    "insurance number|insurance no|insurance id|health number|pension number|medical record|"
    "credit card|card number|id card|bank account|house number|e mail|user name|first name|"
    "last name|given name|family name|middle name|maiden name|seguridad social|securite sociale|"
    "historia clinica|ip address|mac address",
    "sensitive": "viral load|blood pressure|heart rate|death cause|charge virale|carga viral|"
    "net worth|sexual orientation|criminal record|test result|food stamps|social benefits",
    "quasi": "etat civil|estado civil|civil status|code postal|codigo postal|postal code|"
    "situation familiale|work class|marital status",
}
#: Words for a person, and beginnings of them: numbers of people identify.
PERSONS = """
patient person people member customer client subject participant respondent employee citizen
resident pupil student user insured policyholder donor borrower panelist individual beneficiary
applicant passenger taxpayer voter prisoner inmate tenant
kunde mitglied versichert teilnehmer mitarbeiter proband befragte matrikel schueler schüler bürger
buerger
assuré assure salarié salarie adhérent adherent usager élève eleve
paciente usuario miembro asegurado empleado alumno participante cliente socio
"""
#: What else has numbers that identify: "case no", "KundenNr".
_OWNERS = """
staff worker case record file chart policy claim invoice order contract encounter sample specimen
patienten kunden mitglieds personal akte akten fall fallnummer vertrag vertrags versicherten
dossier expediente
"""
NUMBERS = "number numbers no nr num nbr nro numero nummer ref reference referenz code"
_OF = "of at by for per from von der des bei du de del la le d"
#: Endings of words that German writes as one.
_ENDINGS = {
    "key": ("nummer", "kennung"),
    "name": ("name",),
    "sensitive": (
        *("gehalt", "einkommen", "lohn", "rente", "diagnose", "krankheit", "erkrankung", "befund"),
        *("schulden", "medikation", "therapie", "ergebnis", "steuer"),
    ),
    "quasi": ("datum", "abschluss", "beruf", "sprache", "wohnort"),
}


def _by_word() -> dict[str, str]:
    kinds = {
        "identifier": _IDENTIFIER,
        "key": KEYS,
        "name": _NAME,
        "timestamp": _TIMESTAMP,
        "text": _TEXT,
        "sensitive": _SENSITIVE,
        "quasi": _QUASI + _DATED,
        "ambiguous": " ".join(_AMBIGUOUS),
    }
    return {word: kind for kind, words in kinds.items() for word in words.split()}


_KINDS = _by_word()
_DAYS = set(_DATED.split())
_JOINED = {phrase: kind for kind, all_ in _PHRASES.items() for phrase in all_.split("|")}
#: Those that number the rows or people of a table if nothing stands beside them.
ALONE = "number no nr num nbr nro numero nummer"
_ALONE = set(ALONE.split())
_NUMBERS, _BETWEEN = set(NUMBERS.split()), set(_OF.split())
_OWNED = {*_OWNERS.split(), *PERSONS.split()} - {"people"}  # whose number is how many there are


@dataclass(frozen=True)
class NameWord:
    """A word of a column's name, and what it says."""

    word: str  # perhaps several that belong together
    # "identifier", "key", "name", "timestamp", "text", "sensitive", "quasi" or "ambiguous"
    kind: str

    @property
    def dated(self) -> bool:
        """Whether it stands for a day, or for what happened on one."""
        return self.word in _DAYS or self.word.endswith("datum")


def name_words(name: str) -> list[NameWord]:
    """Return what the words of a column's name say; the last one is the head.

    >>> [(said.word, said.kind) for said in name_words("disease_name")]
    [('disease', 'sensitive'), ('name', 'name')]
    >>> [(said.word, said.kind) for said in name_words("Fecha de nacimiento")]
    [('nacimiento', 'quasi'), ('fecha', 'quasi')]
    """
    words = split_name(name)
    at = next((i for i, word in enumerate(words) if word in _BETWEEN and 0 < i < len(words) - 1), 0)
    if at:
        words = [word for word in (*words[at + 1 :], *words[:at]) if word not in _BETWEEN]
    numbered = words[-1] in _NUMBERS or words[0] in _NUMBERS - {"no"}
    found, skip = [], False
    for i, word in enumerate(words):
        if skip:
            skip = False
            continue
        pair = " ".join(words[i : i + 2])
        if pair in _JOINED:
            found.append(NameWord(pair, _JOINED[pair]))
            skip = True
        elif (said := _known(word)) is not None:
            found.append(said)
        elif (word in _ALONE and len(words) == 1) or (
            word in _OWNED and (numbered or len(words) == 1)
        ):
            found.append(NameWord(word, "key"))
    return found


def why_ambiguous(said: NameWord) -> str:
    """Return what a word may stand for."""
    return _AMBIGUOUS[said.word]


def _known(word: str) -> NameWord | None:
    for each in (word, word.rstrip("0123456789"), word.removesuffix("s")):
        if each in _KINDS:
            return NameWord(each, _KINDS[each])
    if any(word.endswith(end) and word.removesuffix(end) in _OWNED for end in ("id", "nr")):
        return NameWord(word, "key")
    for kind, endings in _ENDINGS.items():
        if any(word.endswith(ending) and len(word) > len(ending) + 2 for ending in endings):
            return NameWord(word, kind)
    return None


def split_name(name: str) -> Sequence[str]:
    """Part a name into words: by white space, points and dashes, and where capitals begin.

    >>> split_name("HbA1c"), split_name("dateOfBirth2"), split_name("Année")
    (['hba1c'], ['date', 'of', 'birth2'], ['annee'])
    """
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss"))
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    whole = re.sub(r"[\W_]+", "", plain).lower()
    if whole in _KINDS:
        return [whole]
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", plain)
    return [word for word in re.split(r"[\W_]+", spaced.lower()) if word] or [""]
