"""Turns the dialogue files in data/ into training dialogues: lists of (question, answer) rounds."""
import random
import re
from pathlib import Path

DATA = Path(__file__).resolve().parent / "data"
TOPIC_FILES = ("manners.txt", "self.txt", "app.txt", "concepts.txt", "small_things.txt")

WHAT = {
    "zh": ["什么是{x}", "{x}是什么", "{x}是什么意思", "解释一下{x}", "介绍一下{x}", "讲讲{x}", "说说{x}", "给我讲讲{x}",
           "我不懂{x}", "{x}是什么东西", "什么叫{x}", "你知道{x}吗", "能解释一下{x}吗", "{x}", "{x}到底是什么", "我想了解{x}",
           "简单说说{x}", "用一句话解释{x}", "{x}指什么", "{x}是啥"],
    "en": ["what is {x}", "what's {x}", "explain {x}", "can you explain {x}", "tell me about {x}", "what does {x} mean",
           "define {x}", "{x}", "describe {x}", "i do not understand {x}", "what do you know about {x}",
           "please explain {x}", "give me a short explanation of {x}", "what is meant by {x}", "i want to know about {x}",
           "explain {x} to me", "explain {x} in one sentence", "whats {x}", "do you know what {x} is"],
}
HOW = {
    "zh": ["怎么{x}", "如何{x}", "怎样{x}", "我想{x}", "怎样才能{x}", "怎么才能{x}", "教我{x}", "{x}怎么操作", "告诉我怎么{x}",
           "我要{x}", "能{x}吗", "可以{x}吗", "该怎么{x}", "我该如何{x}", "{x}的方法", "在哪里{x}", "{x}的步骤是什么", "{x}"],
    "en": ["how do i {x}", "how can i {x}", "how to {x}", "i want to {x}", "how does one {x}", "can i {x}",
           "tell me how to {x}", "show me how to {x}", "where can i {x}", "i would like to {x}", "what do i do to {x}",
           "is it possible to {x}", "help me {x}", "explain how to {x}", "i need to {x}", "where do i {x}", "how should i {x}"],
}
# Topics that people are likely to begin with.
COMMON = {"hello": 2.5, "who": 1.7, "cando": 1.5, "thanks": 1.5, "bye": 1.3, "load": 1.3, "getmodel": 1.2, "help": 1.3, "joke": 1.3,
          "howareyou": 1.3}
UNKNOWN = {
    "zh": ["这个我不知道，我只是一个很小的内置模型。加载 ChatGLM2-6B 后再问，会得到更好的回答。",
           "抱歉，这超出了我的能力。我是很小的内置模型，这类问题请加载 ChatGLM2-6B 来回答。"],
    "en": ["I do not know that; I am only a small built-in model. Load ChatGLM2-6B for questions like this.",
           "Sorry, that is beyond me. I am a small built-in model; please load ChatGLM2-6B and ask it."],
}
UNKNOWN_SHORT = {"zh": "这个我不知道。", "en": "I do not know that."}
UNCLEAR = {"zh": "我没有明白。可以换个说法吗？", "en": "I did not understand that. Could you put it in another way?"}
OTHER = "I only know English and Chinese. 我只会英文和中文。"
TOO_LARGE = {"zh": "这个数太大了，我只会算很小的算术题。", "en": "That is too large for me; I can only do very small sums."}
MORE = {"zh": "关于这个我只知道这些。加载 ChatGLM2-6B 可以了解更多。",
        "en": "That is all I know about it. Load ChatGLM2-6B to learn more."}

FOLLOW = {
    "translate": {"en": ["say that in english", "in english please", "in english", "translate that into english",
                         "用英文说", "用英语说一遍", "翻译成英文", "英文怎么说", "请用英文回答", "换成英文", "can you say it in english"],
                  "zh": ["say that in chinese", "in chinese please", "in chinese", "translate that into chinese",
                         "用中文说", "用中文说一遍", "翻译成中文", "中文怎么说", "请用中文回答", "换成中文", "can you say it in chinese"]},
    "short": {"zh": ["短一点", "简短一点", "太长了", "再短一些", "一句话说", "简单点", "简单说", "能短一点吗", "总结一下", "说短点"],
              "en": ["shorter", "shorter please", "make it shorter", "too long", "in short", "in one sentence",
                     "can you make that shorter", "sum it up", "be brief", "a shorter version please"]},
    "ask": {"zh": ["我刚才问了什么", "我刚刚问了什么", "我上一个问题是什么", "我问了什么", "刚才我说了什么", "我刚才说了什么", "我上一句说了什么"],
            "en": ["what did i just ask", "what did i ask", "what was my last question", "what did i just say",
                   "what was my question", "what did i say", "repeat my question"]},
    "again": {"zh": ["再说一遍", "重复一遍", "请再说一次", "再讲一遍", "没听清，再说一遍"],
              "en": ["say that again", "repeat that", "again please", "once more", "could you repeat that", "pardon"]},
    "more": {"zh": ["详细一点", "多说一点", "还有呢", "继续", "再多讲一些", "为什么", "能详细说说吗", "举个例子", "然后呢"],
             "en": ["tell me more", "more details please", "go on", "continue", "why", "more", "can you say more",
                    "give me an example", "what else"]},
}
FOLLOW_TEST = {
    "translate": {"en": ["请说英文版", "could you put that in english"], "zh": ["说成中文吧", "could you put that in chinese"]},
    "short": {"zh": ["能不能再短点"], "en": ["could it be shorter"]},
    "ask": {"zh": ["我刚才问的是什么"], "en": ["what was it that i just asked"]},
}

FACTS = {
    "colour": {
        "zh": (["红色", "蓝色", "绿色", "黄色", "白色", "黑色", "紫色", "橙色", "粉色", "灰色", "棕色", "金色", "银色"],
               ["我最喜欢的颜色是{v}", "我喜欢{v}", "我最喜欢{v}", "我最爱的颜色是{v}"], ["{v}很好看！我会在这次对话里记住。"],
               ["我最喜欢什么颜色", "我最喜欢的颜色是什么", "我喜欢什么颜色", "还记得我喜欢的颜色吗", "我喜欢哪种颜色"],
               ["你最喜欢的颜色是{v}。"], "你还没有告诉我你喜欢什么颜色。"),
        "en": (["red", "blue", "green", "yellow", "white", "black", "purple", "orange", "pink", "grey", "brown", "gold", "silver"],
               ["my favourite colour is {v}", "my favorite color is {v}", "i like {v} best", "i love the colour {v}"],
               ["A lovely colour, {v}! I will remember it in this conversation."],
               ["what is my favourite colour", "what's my favorite color", "which colour do i like", "do you remember my favourite colour"],
               ["Your favourite colour is {v}."], "You have not told me your favourite colour yet."),
    },
    "food": {
        "zh": (["面条", "饺子", "米饭", "苹果", "香蕉", "蛋糕", "鱼", "豆腐", "火锅", "面包", "西瓜", "巧克力", "鸡蛋", "牛肉", "葡萄"],
               ["我最喜欢吃{v}", "我爱吃{v}", "我最喜欢的食物是{v}", "我喜欢吃{v}"], ["{v}听起来真好吃！"],
               ["我喜欢吃什么", "我最喜欢吃什么", "我爱吃什么", "我最喜欢的食物是什么"], ["你喜欢吃{v}。"], "你还没有告诉我你喜欢吃什么。"),
        "en": (["noodles", "rice", "apples", "bananas", "cake", "fish", "pizza", "soup", "bread", "cheese", "chocolate", "eggs", "beef", "grapes"],
               ["my favourite food is {v}", "i like to eat {v}", "i love eating {v}", "my favorite food is {v}"], ["That sounds tasty: {v}!"],
               ["what is my favourite food", "what do i like to eat", "what food do i like", "what's my favorite food"],
               ["You like {v}."], "You have not told me what you like to eat yet."),
    },
    "city": {
        "zh": (["北京", "上海", "广州", "深圳", "成都", "杭州", "南京", "武汉", "西安", "天津", "重庆", "苏州", "伦敦", "巴黎", "东京", "青岛"],
               ["我住在{v}", "我来自{v}", "我在{v}", "我是{v}人"], ["{v}是个好地方！"],
               ["我住在哪里", "我来自哪里", "我在哪个城市", "我是哪里人"], ["你说过，是{v}。"], "你还没有告诉我你在哪里。"),
        "en": (["Paris", "London", "Berlin", "Rome", "Madrid", "Tokyo", "Oslo", "Vienna", "Boston", "Chicago", "Sydney", "Toronto",
                "Beijing", "Shanghai", "Dublin", "Lisbon"],
               ["i live in {v}", "i am from {v}", "i'm from {v}", "i come from {v}"], ["{v} is a nice place!"],
               ["where do i live", "where am i from", "which city am i from", "where do i come from"],
               ["You told me: {v}."], "You have not told me where you live yet."),
    },
    "pet": {
        "zh": (["猫", "狗", "兔子", "鸟", "鱼", "乌龟", "仓鼠", "马"],
               ["我养了一只{v}", "我有一只{v}", "我的宠物是{v}", "我家有一只{v}"], ["真好，{v}一定很可爱！"],
               ["我养了什么", "我的宠物是什么", "我有什么宠物", "我家有什么动物"], ["你有一只{v}。"], "你还没有告诉我你的宠物。"),
        "en": (["cat", "dog", "rabbit", "bird", "fish", "turtle", "hamster", "horse"],
               ["i have a {v}", "my pet is a {v}", "i own a {v}", "i've got a {v}"], ["How nice! A {v} must be lovely."],
               ["what pet do i have", "what is my pet", "which animal do i have", "do you remember my pet"],
               ["You have a {v}."], "You have not told me about a pet yet."),
    },
    "job": {
        "zh": (["老师", "学生", "医生", "工程师", "护士", "司机", "厨师", "律师", "程序员", "设计师", "画家", "农民"],
               ["我是一名{v}", "我的工作是{v}", "我是{v}", "我的职业是{v}"], ["你好！{v}是很了不起的职业。"],
               ["我是做什么的", "我的工作是什么", "我的职业是什么", "我做什么工作"], ["你是{v}。"], "你还没有告诉我你的工作。"),
        "en": (["teacher", "student", "doctor", "nurse", "driver", "cook", "lawyer", "programmer", "designer", "painter", "farmer", "writer"],
               ["i am a {v}", "i'm a {v}", "i work as a {v}", "my job is {v}"], ["Good to know! Being a {v} is fine work."],
               ["what is my job", "what do i do for work", "what is my profession", "do you remember my job"],
               ["You are a {v}."], "You have not told me your job yet."),
    },
    "age": {
        "zh": ([str(n) for n in range(6, 90)], ["我今年{v}岁", "我{v}岁", "我{v}岁了"], ["知道了，你{v}岁。"],
               ["我几岁", "我多大了", "我今年几岁"], ["你{v}岁。"], "你还没有告诉我你几岁。"),
        "en": ([str(n) for n in range(6, 90)], ["i am {v} years old", "i'm {v} years old", "my age is {v}"],
               ["Good to know: you are {v}."], ["how old am i", "what is my age", "do you remember my age"],
               ["You are {v} years old."], "You have not told me your age yet."),
    },
}
NAME = {
    "zh": (["我叫{v}", "我的名字是{v}", "我是{v}", "你好，我叫{v}", "叫我{v}", "你可以叫我{v}", "我名叫{v}", "你好，我是{v}", "请叫我{v}"],
           ["你好，{v}！很高兴认识你。"],
           ["我叫什么", "我叫什么名字", "我的名字是什么", "我是谁", "你还记得我的名字吗", "你知道我是谁吗", "我叫啥", "说出我的名字", "还记得我叫什么吗"],
           ["你叫{v}。"], "你还没有告诉我你的名字。"),
    "en": (["my name is {v}", "i am {v}", "i'm {v}", "call me {v}", "hi, i am {v}", "hello, my name is {v}", "you can call me {v}",
            "my name's {v}", "hi, my name is {v}", "this is {v}"],
           ["Nice to meet you, {v}!"],
           ["what is my name", "what's my name", "who am i", "do you remember my name", "do you know my name", "say my name",
            "what am i called", "can you tell me my name", "tell me my name"],
           ["Your name is {v}."], "You have not told me your name yet."),
}
SURNAMES = "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶"
GIVEN = ("伟芳娜敏静丽强磊军洋勇艳杰娟涛明超秀霞平刚桂英华玉兰文斌建国志红梅春雨雪晨曦子涵宇轩思远佳怡欣悦天一凡小龙"
         "海波晓东婷琳浩然博星月云飞安宁乐可心美玲光辉成林峰鹏凯旋")
NICK = "明红华丽强美东芳雨雪龙虎星月云安乐可心宝米豆新白黑兰"
ENGLISH_NAMES = ("Anna Ben Carl Diana Emma Frank Grace Henry Ivy Jack Kate Leo Mia Nora Oscar Paul Rosa Sam Tom Uma Vera Will Zoe "
                 "Alice Bob Clara David Ella Felix Gina Hugo Ida John Karl Laura Mark Nina Olga Peter Quinn Ruth Simon Tina Victor "
                 "Maria James Lucy Adam Sarah Daniel Julia Max Sophie Robert Linda Michael Susan Chris Alex Robin Kim Li Wei Mei "
                 "Tim Lena Lisa Marco Pablo Ines Ravi Priya Omar Layla Yuki Ken Ali Sara").split()
SYLLABLES = "ba be bo da de di do fa fi ga gi ka ke ko la le li lo lu ma me mi mo na ne ni no ra re ri ro sa se si so ta te ti to va vi wa za zo".split()
HELD_OUT_NAMES = {"zh": ["小梅", "陈志华", "阿东", "林晓雨"], "en": ["Oliver", "Hannah", "Tobias", "Miriam"]}

PREFIX = {"zh": ["请问", "你好，", "请", "那", "嗯，", "我想知道", "那么", "你好，请问", "请告诉我", "麻烦问一下，", "诶，", "好的，", "谢谢。", "喂，"],
          "en": ["please, ", "hey, ", "hi, ", "so, ", "ok, ", "hello, ", "well, ", "and ", "excuse me, ", "now, ", "please tell me, ",
                 "thanks. ", "um, ", "i wonder, "]}
SUFFIX = {"zh": ["呢", "啊", "呀", "，谢谢", "，请回答", "吧", "哦"],
          "en": [" please", ", please", ", thanks", " then", ", thank you", " now", " for me"]}
END = {"zh": ["？", "?", "。", "", "", "", "！", "??", "～", "…", "？？"], "en": ["?", "?", ".", "", "", "", "!", "??", "...", " ?", "？"]}


def unescape(text):
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "\\": "\\"}[m.group(1)], text)


def load_topics():
    topics, by_id = [], {}
    for name in TOPIC_FILES:
        topic = None
        for line in (DATA / name).read_text(encoding="utf-8").splitlines():
            if not line.strip() or line.startswith("#"):
                continue
            key, _, rest = line.partition(" ")
            if key == "@":
                topic = by_id.get(rest)
                if topic is None:
                    topic = by_id[rest] = {"id": rest, "zh": new_side(), "en": new_side()}
                    topics.append(topic)
                continue
            side = topic["zh" if key[0] == "z" else "en"]
            kind = key[1]
            if kind in "as":
                side[kind].append(unescape(rest))
            else:
                side[kind] += [s.strip() for s in rest.split(" | ")]
    for topic in topics:
        for lang in ("zh", "en"):
            side = topic[lang]
            asked = set(side["q"]) | {w.format(x=x) for x in side["x"] for w in WHAT[lang]} \
                | {w.format(x=x) for x in side["d"] for w in HOW[lang]}
            asked |= {p.rstrip("，, ") + " " * (lang == "en") + q for p in PREFIX[lang] for q in asked}
            side["t"] = [q for q in side["t"] if q not in asked]  # a kept-back question must not come up in training
    return topics


def new_side():
    return {"q": [], "t": [], "x": [], "d": [], "a": [], "s": []}


def load_sections(name):
    sections, current = {}, None
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("["):
            current = sections.setdefault(line.strip("[]"), [])
        else:
            current.append([s.strip() for s in line.split(" | ")])
    return sections


class Generator:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.topics = load_topics()
        self.pairs = load_sections("pairs.txt")
        self.outside = {k: [x for row in v for x in row] for k, v in load_sections("outside.txt").items()}
        self.weights = [self.topic_weight(t) for t in self.topics]

    @staticmethod
    def topic_weight(topic):
        """Topics with more ways to ask are seen more often, but less than in proportion."""
        n = sum(len(topic[s]["q"]) + 6 * len(topic[s]["x"]) ** 0.5 + 6 * len(topic[s]["d"]) ** 0.5 for s in ("zh", "en"))
        return n ** 0.75 * COMMON.get(topic["id"], 1.0)

    # ---- noise -------------------------------------------------------------------------------------------------
    def typo(self, text, lang):
        rng = self.rng
        if lang == "en":
            words = text.split(" ")
            spots = [i for i, w in enumerate(words) if len(w) >= 4 and w.isalpha()]
            if not spots:
                return text
            i = rng.choice(spots)
            w, j = words[i], rng.randrange(1, len(words[i]) - 1)
            words[i] = rng.choice((w[:j] + w[j + 1:], w[:j] + w[j + 1] + w[j] + w[j + 2:], w[:j] + w[j] + w[j:]))
            return " ".join(words)
        if len(text) >= 5:
            j = rng.randrange(1, len(text) - 1)
            if "\u4e00" <= text[j] <= "\u9fff":
                return rng.choice((text[:j] + text[j + 1:], text[:j] + text[j] + text[j:]))
        return text

    def noisy(self, text, lang, exact=False):
        """A question as a user might type it. `exact` keeps the words as they are (names, text to repeat)."""
        rng = self.rng
        if not exact:
            if lang == "en":
                if rng.random() < 0.3:
                    for a, b in (("what is", "what's"), ("i am", "i'm"), ("do not", "don't"), ("'", "")):
                        if rng.random() < 0.4:
                            text = text.replace(a, b)
            elif rng.random() < 0.3:
                a = rng.random() < 0.5
                text = re.sub(r"(?<=[\u4e00-\u9fff])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[\u4e00-\u9fff])", " " if a else "", text)
            if rng.random() < 0.08:
                text = self.typo(text, lang)
        if rng.random() < 0.16:
            text = rng.choice(PREFIX[lang]) + text
        if not exact and rng.random() < 0.10:
            text = text + rng.choice(SUFFIX[lang])
        if text[-1:] not in "?？。.!！…":
            text = text + rng.choice(END[lang])
        if lang == "en":
            r = rng.random()
            if r < 0.5:
                text = text[:1].upper() + text[1:]
                text = re.sub(r"\bi\b", "I", text)
            elif r < 0.53 and not exact:
                text = text.upper()
            elif r < 0.7 and not exact:
                text = text.lower()
        elif rng.random() < 0.1:
            text = text.replace("，", ",")
        if rng.random() < 0.02:
            text = " " + text
        return text

    # ---- single rounds -----------------------------------------------------------------------------------------
    def topic_question(self, topic, lang):
        rng, side = self.rng, topic[lang]
        kinds = ([("q", len(side["q"]))] if side["q"] else []) \
            + ([("x", 6 * len(side["x"]) ** 0.5)] if side["x"] else []) + ([("d", 6 * len(side["d"]) ** 0.5)] if side["d"] else [])
        kind = rng.choices([k for k, _ in kinds], [w for _, w in kinds])[0]
        text = side[kind][0] if rng.random() < 0.12 else rng.choice(side[kind])  # the plainest way to ask comes first
        if kind == "x":
            text = rng.choice(WHAT[lang]).format(x=text)
        elif kind == "d":
            text = rng.choice(HOW[lang]).format(x=text)
        return text

    def topic_round(self, lang, topic=None):
        rng = self.rng
        topic = topic or rng.choices(self.topics, self.weights)[0]
        answers = topic[lang]["a"]
        i = rng.randrange(len(answers))
        return {"q": self.noisy(self.topic_question(topic, lang), lang), "a": answers[i], "topic": topic, "variant": i}

    def capital_round(self, lang):
        rng = self.rng
        zh, en, czh, cen = rng.choice(self.pairs["capital"])
        land, city = (zh, czh) if lang == "zh" else (en, cen)
        if lang == "zh":
            if rng.random() < 0.2:
                q = rng.choice(["{c}是哪个国家的首都", "{c}是哪国的首都", "哪个国家的首都是{c}"])
            else:
                q = rng.choice(["{l}的首都是哪里", "{l}的首都是什么", "{l}首都", "{l}的首都在哪里", "{l}首都是哪", "哪里是{l}的首都",
                                "你知道{l}的首都吗", "{l}的首都叫什么", "{l}的首都", "{l}的首都是哪个城市"])
            a = f"{land}的首都是{city}。"
        else:
            if rng.random() < 0.2:
                q = rng.choice(["{c} is the capital of which country", "which country has the capital {c}", "what country is {c} the capital of"])
            else:
                q = rng.choice(["what is the capital of {l}", "what's the capital of {l}", "capital of {l}", "the capital of {l}",
                                "which city is the capital of {l}", "name the capital of {l}", "tell me the capital of {l}",
                                "do you know the capital of {l}", "what is the capital city of {l}"])
            a = f"The capital of {land} is {city}."
        plain = land.removeprefix("the ") if rng.random() < 0.3 else land
        both = {"zh": f"{zh}的首都是{czh}。", "en": f"The capital of {en} is {cen}."}
        return {"q": self.noisy(q.format(l=plain, c=city), lang), "a": a, "both": both, "short": city + ("。" if lang == "zh" else "."),
                "land_round": True}

    def next_capital(self, lang):
        """'And France?' after a question about a capital."""
        zh, en, czh, cen = self.rng.choice(self.pairs["capital"])
        if lang == "zh":
            q = self.rng.choice(["那{l}呢", "{l}呢", "{l}的呢", "那么{l}呢"]).format(l=zh)
        else:
            q = self.rng.choice(["and {l}", "what about {l}", "and of {l}", "how about {l}"]).format(l=en)
        both = {"zh": f"{zh}的首都是{czh}。", "en": f"The capital of {en} is {cen}."}
        return {"q": self.noisy(q, lang), "a": both[lang], "both": both, "land_round": True}

    def word_round(self, lang):
        rng = self.rng
        zh, en = rng.choice(self.pairs["word"])
        if rng.random() < 0.5:
            a = {"zh": f"“{zh}”的英文是“{en}”。", "en": f'"{zh}" is "{en}" in English.'}
            q = rng.choice(["{w}用英语怎么说", "{w}的英文是什么", "{w}英文怎么说", "把{w}翻译成英文", "翻译{w}", "{w}用英文怎么写",
                            "“{w}”的英文", "{w}的英语单词是什么", "英语里{w}怎么说"] if lang == "zh" else
                           ["what is {w} in english", "how do you say {w} in english", "translate {w} into english", "translate {w}",
                            "what does {w} mean", "what does {w} mean in english", "the english word for {w}"]).format(w=zh)
        else:
            a = {"zh": f"“{en}”的意思是“{zh}”。", "en": f'"{en}" is "{zh}" in Chinese.'}
            q = rng.choice(["{w}是什么意思", "{w}的中文是什么", "{w}用中文怎么说", "把{w}翻译成中文", "翻译{w}", "{w} 中文怎么说",
                            "单词{w}是什么意思"] if lang == "zh" else
                           ["what is {w} in chinese", "how do you say {w} in chinese", "translate {w} into chinese", "{w} in chinese",
                            "the chinese word for {w}", "how do i say {w} in chinese", "what is the chinese for {w}"]).format(w=en)
        return {"q": self.noisy(q, lang), "a": a[lang], "both": a}

    def opposite_round(self, lang):
        rng = self.rng
        row = rng.choice(self.pairs["opposite"])
        a, b = row[:2] if lang == "zh" else row[2:]
        if rng.random() < 0.5:
            a, b = b, a
        if lang == "zh":
            q = rng.choice(["{a}的反义词是什么", "{a}的反义词", "{a}的相反是什么", "“{a}”的反义词是什么", "和{a}相反的词", "说出{a}的反义词"])
            return {"q": self.noisy(q.format(a=a), lang), "a": f"“{a}”的反义词是“{b}”。"}
        q = rng.choice(["what is the opposite of {a}", "the opposite of {a}", "opposite of {a}", "what's the opposite of {a}",
                        "name the opposite of {a}", "which word is the opposite of {a}"])
        return {"q": self.noisy(q.format(a=a), lang), "a": f'The opposite of "{a}" is "{b}".'}

    def sum_round(self, lang):
        rng = self.rng
        op = rng.choice("++--*/")
        large = rng.random() < 0.12
        if large:
            a, b = rng.randrange(60, 10 ** rng.randrange(3, 6)), rng.randrange(30, 10 ** rng.randrange(3, 6))
        elif op == "+":
            a, b = rng.randrange(0, 21), rng.randrange(0, 21)
        elif op == "-":
            a = rng.randrange(0, 21)
            b = rng.randrange(0, a + 1)
        else:
            a, b = rng.randrange(1, 11), rng.randrange(1, 11)
            if op == "/":
                a = a * b
        sign = {"+": "+", "-": "-", "*": "×", "/": "÷"}[op]
        value = {"+": a + b, "-": a - b, "*": a * b, "/": a // max(b, 1)}[op]
        if rng.random() < 0.5:
            typed = {"+": ["+"], "-": ["-"], "*": ["*", "×", "x"], "/": ["/", "÷"]}[op]
            gap = rng.choice(["", " "])
            q = f"{a}{gap}{rng.choice(typed)}{gap}{b}" + rng.choice(["", "", "=", " =", "=?", " = ?"])
            if rng.random() < 0.4:
                q = (rng.choice(["{}等于多少", "{}等于几", "计算{}", "算一下{}", "{}是多少"]) if lang == "zh" else
                     rng.choice(["what is {}", "how much is {}", "calculate {}", "compute {}"])).format(q.rstrip("=? "))
        elif lang == "zh":
            word = {"+": "加", "-": "减", "*": "乘", "/": "除以"}[op]
            x, y = (numeral(a), numeral(b)) if rng.random() < 0.4 and max(a, b) <= 100 else (a, b)
            q = f"{x}{word}{y}" + rng.choice(["等于几", "等于多少", "是多少", "是几", ""])
        else:
            word = {"+": "plus", "-": "minus", "*": "times", "/": "divided by"}[op]
            x, y = (words(a), words(b)) if rng.random() < 0.4 and max(a, b) <= 20 else (a, b)
            q = rng.choice(["what is {} {} {}", "how much is {} {} {}", "{} {} {}", "what's {} {} {}"]).format(x, word, y)
        full = TOO_LARGE[lang] if large else f"{a} {sign} {b} = {value}" + ("。" if lang == "zh" else ".")
        ends = "?？=。."
        if q[-1] not in ends and rng.random() < 0.4:
            q += "？" if lang == "zh" else "?"
        return {"q": q, "a": full}

    def outside_round(self, lang):
        rng, o = self.rng, self.outside
        r = rng.random()
        if r < 0.06:
            return {"q": self.noisy(rng.choice(o["other_language"]), lang, True), "a": OTHER}
        if r < 0.13:
            q = rng.choice(o[lang + "_unclear"])
            if lang == "en" and rng.random() < 0.5:
                q = "".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(rng.randrange(3, 9)))
            return {"q": q, "a": UNCLEAR[lang]}
        if r < 0.55:
            q = rng.choice(o[lang + "_whole"])
        elif r < 0.64:
            lands = {"zh": "伊朗 智利 秘鲁 古巴 蒙古 缅甸 捷克 匈牙利 罗马尼亚 乌克兰 以色列 沙特 尼泊尔 老挝 加纳 摩洛哥".split(),
                     "en": "Iran Chile Peru Cuba Mongolia Hungary Romania Ukraine Israel Nepal Laos Ghana Morocco Iceland Bolivia".split()}[lang]
            q = (rng.choice(["{}的首都是哪里", "{}的首都是什么", "{}首都"]) if lang == "zh" else
                 rng.choice(["what is the capital of {}", "capital of {}", "tell me the capital of {}"])).format(rng.choice(lands))
        else:
            q = rng.choice(o[lang]).format(x=rng.choice(o[lang + "_x"]))
        i = rng.randrange(2)
        return {"q": self.noisy(q, lang), "a": UNKNOWN[lang][i], "both": {s: UNKNOWN[s][i] for s in UNKNOWN},
                "short": UNKNOWN_SHORT[lang]}

    # ---- rounds that look back ---------------------------------------------------------------------------------
    def name(self, lang):
        rng = self.rng
        while True:
            if lang == "zh":
                r = rng.random()
                if r < 0.3:
                    n = rng.choice("小小阿老大") + rng.choice(NICK)
                elif r < 0.9:
                    n = rng.choice(SURNAMES) + "".join(rng.choice(GIVEN) for _ in range(rng.choice((1, 2, 2))))
                else:
                    n = rng.choice(ENGLISH_NAMES)
            else:
                r = rng.random()
                n = rng.choice(ENGLISH_NAMES) if r < 0.5 else "".join(rng.choice(SYLLABLES) for _ in range(rng.choice((2, 2, 3)))).capitalize()
                if rng.random() < 0.15:
                    n = n.lower()
            if n not in HELD_OUT_NAMES[lang]:
                return n

    def tell_round(self, lang, state):
        rng = self.rng
        if rng.random() < 0.45:
            kind, v, spec = "name", self.name(lang), NAME[lang]
            q, a = rng.choice(spec[0]), rng.choice(spec[1])
        else:
            kind = rng.choice(list(FACTS))
            values, tells, replies = FACTS[kind][lang][:3]
            v = rng.choice(values)
            q, a = rng.choice(tells), rng.choice(replies)
        state[(kind, lang)] = v
        text = q.format(v=v)
        a = a.format(v=v)
        return {"q": self.noisy(text, lang, True), "a": a[:1].upper() + a[1:] if not a.startswith(v) else a}

    def recall_round(self, lang, state, kind=None):
        rng = self.rng
        known = [k for k, l in state if l == lang]
        if kind is None:
            kind = rng.choice(known) if known and rng.random() < 0.85 else rng.choice(["name", "name"] + list(FACTS))
        spec = NAME[lang][2:] if kind == "name" else FACTS[kind][lang][3:]
        if (kind, "zh" if lang == "en" else "en") in state and (kind, lang) not in state:
            kind, spec = "name", NAME[lang][2:]
            if ("name", "zh" if lang == "en" else "en") in state:
                return self.tell_round(lang, state)
        v = state.get((kind, lang))
        return {"q": self.noisy(rng.choice(spec[0]), lang), "a": spec[2] if v is None else rng.choice(spec[1]).format(v=v)}

    def repeat_round(self, lang):
        """Words to be said again. Useful by itself, and the shortest way to learn to copy from the question."""
        rng = self.rng
        parts = []
        for _ in range(rng.randrange(1, 6)):
            r = rng.random()
            if r < 0.5:
                parts.append(self.name(lang))
            elif r < 0.8:
                parts.append(rng.choice(self.pairs["word"])[lang == "en"])
            elif r < 0.9:
                parts.append(str(rng.randrange(0, 1000)))
            else:
                parts.append(rng.choice(self.pairs["capital"])[2 + (lang == "en")])
        if lang == "zh":
            text = rng.choice(["", "", "，", "、"]).join(parts)
            return {"q": rng.choice(["重复：{}", "跟我说：{}", "请重复：{}", "跟我念：{}", "说“{}”", "请说：{}", "复述：{}"]).format(text), "a": text}
        text = rng.choice([" ", " ", ", "]).join(parts)
        return {"q": rng.choice(["Repeat: {}", "repeat after me: {}", "Say {}", "say: {}", "Please repeat: {}", 'Say "{}"']).format(text), "a": text}

    def follow_round(self, lang, last):
        rng = self.rng
        options = ["ask", "ask"]
        if last.get("land_round"):
            options += ["capital"] * 6
        if "topic" in last or "both" in last:
            options += ["translate"] * 3
        if last.get("short") or (last.get("topic") and last["topic"][lang]["s"]):
            options += ["short"] * 3
        if "topic" in last:
            options += ["more"]
        if len(last["a"]) < 160:
            options += ["again"]
        kind = rng.choice(options)
        if kind == "capital":
            return self.next_capital(lang)
        if kind == "translate":
            other = "en" if lang == "zh" else "zh"
            q = rng.choice(FOLLOW["translate"][other])
            if "topic" in last:
                answers = last["topic"][other]["a"]
                a = answers[min(last["variant"], len(answers) - 1)]
                if last.get("was_short") and last["topic"][other]["s"]:
                    a = last["topic"][other]["s"][0]
            else:
                a = last["both"][other]
            qlang = "zh" if any("\u4e00" <= c <= "\u9fff" for c in q) else "en"
            return {"q": self.noisy(q, qlang), "a": a, "lang": other}
        q = self.noisy(rng.choice(FOLLOW[kind][lang]), lang)
        if kind == "short":
            a = last.get("short") or last["topic"][lang]["s"][0]
            out = {"q": q, "a": a}
            if "topic" in last:
                out.update(topic=last["topic"], variant=last["variant"], was_short=True)
            return out
        if kind == "ask":
            said = last["q"].strip()
            return {"q": q, "a": f"你说的是：“{said}”" if lang == "zh" else f'You said: "{said}"'}
        if kind == "again":
            return {**last, "q": q}
        return {"q": q, "a": MORE[lang]}

    def any_round(self, lang, state, last):
        rng = self.rng
        if last is not None and rng.random() < 0.3:
            return self.follow_round(last.get("lang", lang), last)
        make = rng.choices((self.topic_round, self.word_round, self.capital_round, self.opposite_round, self.sum_round,
                            self.outside_round, self.tell_round, self.recall_round, self.repeat_round), (44, 5, 5, 5, 9, 12, 9, 4, 9))[0]
        return make(lang, state) if make in (self.tell_round, self.recall_round) else make(lang)

    def dialogue(self, rounds=None):
        rng = self.rng
        n = rounds or rng.choices((1, 2, 3, 4, 5, 6, 8, 12), (56, 24, 12, 3, 2, 1, 1, 1))[0]
        lang = rng.choice(("zh", "en"))
        state, out, last = {}, [], None
        plan = n >= 2 and rng.random() < 0.4
        for i in range(n):
            if i and rng.random() < 0.06:
                lang = "en" if lang == "zh" else "zh"
            if plan and i == 0:
                one = self.tell_round(lang, state)
            elif plan and i == n - 1:
                one = self.recall_round(lang, state)
            else:
                one = self.any_round(lang, state, last)
            one.setdefault("lang", lang)
            out.append((one["q"], one["a"]))
            last = one
        return out


def numeral(n):
    digits = "零一二三四五六七八九"
    if n < 10:
        return digits[n]
    if n == 100:
        return "一百"
    tens = ("" if n < 20 else digits[n // 10]) + "十"
    return tens + (digits[n % 10] if n % 10 else "")


def words(n):
    return ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
            "eighteen nineteen twenty").split()[n]


if __name__ == "__main__":
    g = Generator(1)
    for _ in range(40):
        for q, a in g.dialogue():
            print("Q:", q)
            print("A:", a)
        print()
