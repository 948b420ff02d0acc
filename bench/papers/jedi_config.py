"""Configurations of JEDI, in libconfig's format, as they stand in the file: docs/evidence/import-jedi.md."""
import dataclasses
import difflib
import re

MOST_BYTES = 256 * 1024
MOST_LEVELS = 32
KEYS = """app_type aux_streams batch batch_thread_num bin_path buffer_num calib_image_label_path calib_image_path
    calib_images_num calib_table cfg_path cut_points data_type device_num devices dla_cores dla_sram_size dla_sram_sizes
    fp16_ranges fp32_ranges gpu_ranges image_label_path image_norm_mean image_norm_std image_path image_preprocessing
    label_path model_dir model_type name_path names_path network_name offset onnx_file_path onnx_path
    opencv_parallel_num post_thread_num pre_thread_num sample_size streams timing_cache_path""".split()
OWN_APPLICATIONS = """YoloApplication CenternetApplication YoloOnnxApplication ImageClsOnnxApplication
    DETROnnxApplication YoloEnd2EndOnnxApplication BasicOnnxApplication NuscenesDetectionOnnxApplication""".split()
TOKEN = re.compile(r"""(?P<space>\s+|\#[^\n]*|//[^\n]*|/\*.*?\*/)
    | (?P<text>"(?:[^"\\]|\\.)*")
    | (?P<name>[A-Za-z*][-A-Za-z0-9_*]*)
    | (?P<number>[-+]?(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)L{0,2})
    | (?P<mark>[][(){}=:;,])""", re.VERBOSE | re.DOTALL)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "b": "\b"}


class Wrong(Exception):
    """Place, finding, remedy."""


def wrong_at(file, line, text):
    return Wrong(f"{file}: line {line}: {text}")


@dataclasses.dataclass
class Setting:
    value: object  # text; whole number; float; bool; dict of settings; list of settings
    line: int


def near(name, names):
    found = difflib.get_close_matches(name, names, 1)
    return f"; did you mean '{found[0]}'?" if found else ""


class Reader:
    """A recursive descent over the tokens, which are (kind, text, line)."""

    def __init__(self, content, file):
        self.file, self.tokens, self.at, self.levels = file, [], 0, 0
        place, line = 0, 1
        while place < len(content):
            if content.startswith("@include", place):
                raise wrong_at(file, line, "includes another file, which is not read; put its settings here")
            found = TOKEN.match(content, place)
            if not found:
                line += content.count("\n", place) if content[place] == '"' else 0  # a text that does not end
                raise self.syntax_error(line)
            if found.lastgroup != "space":
                self.tokens.append((found.lastgroup, found.group(), line))
            line += found.group().count("\n")
            place = found.end()
        self.tokens.append(("end", "", line))

    def syntax_error(self, line):
        return wrong_at(self.file, line, "syntax error; expected libconfig's format")

    def take(self, *kinds_or_marks):
        kind, text, line = self.tokens[self.at]
        if kind not in kinds_or_marks and text not in kinds_or_marks:
            raise self.syntax_error(line)
        self.at += 1
        return text, line

    def is_next(self, *kinds_or_marks):
        return self.tokens[self.at][0] in kinds_or_marks or self.tokens[self.at][1] in kinds_or_marks

    def settings(self, end):
        found = {}
        while not self.is_next(end):
            name, line = self.take("name")
            if name in found:
                raise wrong_at(self.file, line, "duplicate setting name; expected libconfig's format")
            self.take("=", ":")
            found[name] = Setting(self.value(), line)
            if self.is_next(";", ","):
                self.at += 1
        return found

    def value(self):
        text, line = self.take("text", "name", "number", "{", "(", "[")
        if text in ("{", "(", "["):
            return self.inside(text, line)
        if text[0] == '"':
            value = re.sub(r"\\(x[0-9a-fA-F]{2}|.)", lambda m: chr(int(m[1][1:], 16)) if len(m[1]) > 1
                           else ESCAPES.get(m[1], m[1]), text[1:-1], flags=re.DOTALL)
            return value + self.value() if self.is_next("text") else value
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        if not text[0].isdigit() and text[0] not in "+-":
            raise self.syntax_error(line)
        text = text.rstrip("L")
        return float(text) if re.search(r"[.eE]", text) and "x" not in text.lower() else int(text, 0)

    def inside(self, bracket, line):
        self.levels += 1
        if self.levels > MOST_LEVELS:
            raise wrong_at(self.file, line, f"has more than {MOST_LEVELS} levels of brackets")
        end = {"{": "}", "(": ")", "[": "]"}[bracket]
        if bracket == "{":
            found = self.settings(end)
        else:
            found = []
            while not self.is_next(end):
                line = self.tokens[self.at][2]
                found.append(Setting(self.value(), line))
                if not self.is_next(end):
                    self.take(",")
        self.take(end)
        self.levels -= 1
        return found


class Instance:
    """One application: its settings by key, without spaces around them."""

    def __init__(self, file, line, settings):
        self.file, self.line, self.settings = file, line, settings

    def wrong(self, key, text):
        line = self.settings[key].line if key in self.settings else self.line
        return wrong_at(self.file, line, f"{key}: {text}")

    def has(self, key):
        return key in self.settings

    def text(self, key):
        return self.settings[key].value if key in self.settings else ""

    def count(self, key, least, most):
        """A whole number within these bounds; 0 if it is not there."""
        if not self.has(key):
            return 0
        text = self.text(key)
        if not re.fullmatch(r"-?\d{1,18}", text) or not least <= int(text) <= most:
            raise self.wrong(key, f"found '{text}', expected a whole number from {least} to {most}")
        return int(text)

    def list(self, key):
        return [item.strip() for item in self.text(key).split(",")] if self.text(key) else []

    def counts(self, key, most):
        for item in self.list(key):
            if not re.fullmatch(r"\d{1,18}", item) or int(item) > most:
                raise self.wrong(key, f"found '{item}', expected whole numbers from 0 to {most}, separated by commas")
        return [int(item) for item in self.list(key)]


def text_of(key, setting, file):
    """Numbers may stand there as such, though JEDI wants them in quotation marks."""
    if isinstance(setting.value, bool) or not isinstance(setting.value, (str, int)):
        raise wrong_at(file, setting.line, f"{key}: expected a value in quotation marks")
    text = str(setting.value).strip()
    if any(0xdc80 <= ord(c) <= 0xdcff for c in text):
        raise wrong_at(file, setting.line, f"{key}: holds a byte that is not UTF-8; save the file as UTF-8")
    if any(ord(c) < 0x20 or ord(c) == 0x7f for c in text):
        raise wrong_at(file, setting.line, f"{key}: holds a control character")
    return text


def instance_of(setting, file):
    if not isinstance(setting.value, dict):
        raise wrong_at(file, setting.line, "instances: expected { ... } for each application")
    settings = {key: Setting(text_of(key, each, file), each.line) for key, each in setting.value.items()}
    instance = Instance(file, setting.line, settings)
    if instance.text("app_type") in ("", *OWN_APPLICATIONS):
        for key, each in settings.items():
            if key not in KEYS:
                raise wrong_at(file, each.line, f"'{key}' is no key of JEDI's{near(key, KEYS)}; correct or remove it")
    return instance


def needed(group, key, file):
    if not isinstance(group.value, dict) or key not in group.value:
        names = ", ".join(f"'{name}'" for name in group.value) if isinstance(group.value, dict) else ""
        raise wrong_at(file, group.line, f"has no '{key}' (found {names or 'nothing'}), expected "
                       "configs = { instance_num = \"1\"; instances = ( { ... } ); }")
    return group.value[key]


def parse(content, file):
    """The instances that instance_num counts, and what was left out in sentences."""
    if len(content) > MOST_BYTES:
        raise Wrong(f"{file}: is larger than {MOST_BYTES} bytes")
    if b"\0" in content:
        raise Wrong(f"{file}: holds a byte 0, expected a text in libconfig's format")
    reader = Reader(content.decode("utf-8", "surrogateescape"), file)
    root = Setting(reader.settings(""), 1)
    configs = needed(root, "configs", file)
    number, instances = needed(configs, "instance_num", file), needed(configs, "instances", file)
    found = len(instances.value) if isinstance(instances.value, list) else 0
    text = text_of("instance_num", number, file)
    if not re.fullmatch(r"\d{1,9}", text) or not 1 <= int(text) <= found:
        raise wrong_at(file, number.line, f"instance_num: found '{text}', but there are {found} instances; "
                       f"expected 1 to {max(found, 1)}")
    wanted = int(text)
    notes = [f"instance_num is {wanted}, so that the last {found - wanted} of {found} instances were left out, as JEDI "
             "does"] if found > wanted else []
    return [instance_of(each, file) for each in instances.value[:wanted]], notes
