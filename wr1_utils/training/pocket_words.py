"""Words and random values from which pages for the base training of the pocket model are made.

The lists are plain English words that one meets on websites, among them words of the Pocket Arena. Labels made of them are random: a label says nothing about what an
element does, so that the only way to find an element is to read the page.
"""

import random
import string

_WORDS = """
about accept access account action active activity actual add address admin advanced alarm album alert all allow alone amber amount
anchor animal answer apple apply archive area arrow article artist assign attach author autumn avatar average back badge bag balance
ball bamboo banana band bank banner bar barrel base basic basket bath battery beach bean bear bed bee bell belt bench best bill billing
bird biscuit blanket block blog blue board boat body bonus book boot border bottle bottom bowl box bracelet branch brand brass bread
break breakfast brick bridge bright brown browse brush bubble bucket budget bug build bulb bundle butter button cabin cabinet cable
cake calendar call camera camp cancel candle canvas cap card care cart case cash cat catalog category ceramic chain chair change
channel chapter chart chat check checkout cheese cherry chest child chip chocolate choice choose circle city class clay clean clear
clock close cloth clothing cloud club coast coat code coffee coin cold collection color colour column comb comment commit common
community company compare complete computer condition confirm contact content continue contrast control cook cookie copper copy
corner cotton count country coupon cover cow cream create credit crown cup curtain cushion custom customer cycle daily dark dash data
date day deal default delete delivery depth desert design desk detail details device diary digital dinner direction discount dish
display dog done door dot double down download draft drag draw drawer dress drink drive drop dry duck dust each ear early earth east
easy edge edit egg eight electric email empty enable end engine enter entry equal error event every example exit expand expert export
express extra fabric face fair fall family fan farm fast favorite feature feed feedback fence field file fill filter final find
finger fire first fish five fix flag flat flight floor flower fold folder follow food foot for forest fork form forum forward four
fox frame free fresh friday friend from front fruit full game garden gate general get gift give glass global glove go gold good grain
grand granite grape graph grass gray great green grey grid ground group guest guide guitar half hall hammer hand handle happy harbor
hard hat head health heart heat heavy height hello help hidden high hill history hold holiday home honey hood hook horse hot hotel
hour house how ice icon image important in inbox income index info ink input insert inside invoice iron island issue item ivory jacket
jam jar jeans job join journal juice jump june jungle keep kettle key keyboard kid kind king kitchen kite knife label lake lamp land
language large last late latest lamb law leaf leather left lemon length less letter level library life light like lime line linen link
lion list live load local lock log login logout long lost low lunch machine magazine magnet mail main manage manager many map marble
mark market master match material maximum meal measure media medium meet member memo memory menu merge message metal method middle
milestone milk mind mini minimum minute mirror mobile mode model modern monday money monitor month moon more morning motor mountain
mouse move movie mug music my nail name navy near neck needle nest net network new news next nice night nine no noise none north note
notebook notice number oak object ocean of off offer office oil old olive one online only open option orange orchid order other out
outdoor oven overview owl owner pack package page paint pair palm pan panel paper park part party password past path pattern pause pay
payment peach pear pearl pen pencil people pepper percent person pet phone photo piano picnic picture piece pillow pin pine pink pipe
place plain plan planet plant plastic plate play please plum plus pocket point policy pool popular port portable position post poster
pot pound powder power premium present press preview previous price print privacy private problem product profile program project
public pull pump purple purpose push quality quantity question queue quick quiet radio rain random range rate rating raw reach read
ready reason receipt recent record red reference refresh refund region register related release reload remember remote remove rename
repair reply report reports repository request reset resource response rest result results return review reviews rice right ring
river road robot rock role roof room root rope rose rough round route row rubber rug rule run safe sail salad sale salt sample sand
sandal saturday sauce save scale scarf schedule school science scissors screen screw sea search season seat second secret section
security see seed select sell send series service session set settings seven shade shadow shape share sharp sheep sheet shelf shell
ship shipping shirt shoe shop short should show side sign signal silent silk silver simple single sink site six size skin skirt sky
sleep sleeve slide slow small smart smoke smooth snack snow soap social sock soft solar sold solid song sort sound soup source south
space spare speaker special speed spice spoon sport spray spring square stack stage stainless stamp stand standard star start state
station status steel step stereo stick stock stone stool stop storage store storm story stove strap straw stream street string
strong studio style subject submit subscribe subtotal sugar suit summary summer sun sunday supply support surface sweet switch symbol
system table tablet tag tail tall tank tap tape target task tax tea team tennis tent term terms test text that the thick thin thing
this three thread thursday ticket tie tiger tile time timer tin tip title to toast today toggle token tomato tool top topic total
towel tower town toy track trade traffic train transfer trash travel tray tree trial trip truck trunk trust tube tuesday turn two type
under undo union unit up update upload upper urgent use user user username vacuum valley value vase vegetable velvet version video
view village vintage violet visible visit voice volume vote walk wall wallet walnut warm warning wash watch water wave way weather web
wednesday week weight welcome west wheat wheel white wide width wild wind window wine wing winter wire wish with wood wooden wool word
work world wrap write yard year yellow yes yesterday you your zero zone
airport apartment approve apron assigned assignee author backpack bakery barrier basil beige bicycle birch blender bluetooth bookmark boots bread
broken bronze bucket bus buy cafe cargo carbon cedar change cheap cheaper cheapest chess circuit clear clerk clever clinic clone closed coach collar
comments commits committee compass conference consumer cooking coordinates coral cork cost crimson cross crossing crystal dense disabled distance
docs dozen dusty eager elevation ember emerald enamel engineer evening expensive explain faded fails favorites feather fern ferry film finder firm
fitness flute fork frosty frozen function gallery gardening gentle ginger glossary golden grade handy hazel helmet highest hiking hospital hostel hours
indigo inventory jade jasmine keeps kind landmark lane lantern latitude lavender library lighting lilac little lively longitude loud lowest lucky
maintainer maker maple mark maroon mayor meadow mellow members merged meters mill minutes misty module modest mosaic motel museum narrow nearby nearest
newest newsletter noble noodle notes oldest opened operator orders organic packed paddle painter parser patient pebble pending pharmacy photography
pickup pier pixel planner planter platform plaza plush points polished pottery pouch predict printer processing proud pump purse put puzzle quarter
quartz racket rapid rated ready rebuild refunded reliable rental restaurant returned revenue reviewer ripple risk robin royal rustic saddle salmon
satin scissors scout sculpture search sellers shelter shipped shovel shrine simulator siren slate sleek sorted sparrow spatula spiral spruce stable
stadium stars station steady stitched stores stroller sturdy summit sunny supplier swift tags tell tender terrace tests theater tidy timber timetable
tiny topaz torch tourist town tracker trail translator travels tripod tulip turquoise urban vanilla velvet version visibility visitor vivid wander watch
weaver whistle wicker willow wiki woven wrench zip
""".split()
_NAMES = """
Alice Anna Bella Ben Carla Carlos Clara Daniel David Diana Elena Emma Erik Eva Felix Fiona Frank Grace Hana Helen Henry Hugo Ida Ivan
Jack James Jane John Julia Karen Kim Laura Leo Liam Linda Lucas Lucy Maria Mark Martin Mary Maya Mia Michael Nadia Nina Noah Nora
Oliver Omar Oscar Paul Peter Priya Rachel Robert Rosa Ruth Sam Sara Simon Sofia Susan Tom Tina Victor Wendy Yuki Zoe
""".split()
_PLACES = """
Africa America Asia Athens Berlin Boston Brazil Cairo Canada Chicago China Dallas Delhi Denver Dublin Egypt England Europe Finland
France Geneva Germany Greece India Ireland Italy Japan Kenya Lima Lisbon London Madrid Mexico Miami Milan Norway Oslo Paris Peru
Poland Portugal Prague Rome Seattle Spain Sweden Texas Tokyo Toronto Turkey Vienna Warsaw York Zurich
""".split()
_MONTHS = "January February March April May June July August September October November December".split()
_FILLER = """
lorem ipsum dolor sit amet consectetur adipiscing elit sed eiusmod tempor incididunt labore dolore magna aliqua enim minim veniam quis
nostrud ullamco laboris nisi aliquip commodo consequat duis aute irure velit esse cillum fugiat nulla pariatur sint occaecat cupidatat
""".split()
_ENGLISH = """
a all also and any are as at be been but by can do does for from had has have he her his if in into is it its just less made make more
most much not now of on one only or our out over she so some than that the their them then there these they this to too very was we
well were what when which while who will with would you your really after again because before between during great love quality works
""".split()

WORDS = sorted(set(_WORDS))
_VOWELS, _CONSONANTS = "aeiou", "bcdfghjklmnprstvwz"


def random_letters(rng: random.Random) -> str:
    """A string that no word list holds: syllables or plain letters, so that the model learns to copy any text."""
    if rng.random() < 0.6:
        word = "".join(rng.choice(_CONSONANTS) + rng.choice(_VOWELS) + rng.choice(["", "", rng.choice(_CONSONANTS)])
                       for _ in range(rng.randint(1, 3)))
    else:
        word = "".join(rng.choice(string.ascii_letters) for _ in range(rng.randint(2, 7)))
    return rng.choice([word, word.lower(), word.capitalize(), word.upper()] if rng.random() < 0.3 else [word, word.capitalize()])


def word(rng: random.Random) -> str:
    """One word: mostly a common one, sometimes a name, a place, filler or random letters."""
    roll = rng.random()
    if roll < 0.66:
        return rng.choice(WORDS)
    if roll < 0.74:
        return rng.choice(_NAMES)
    if roll < 0.80:
        return rng.choice(_PLACES)
    if roll < 0.85:
        return rng.choice(_FILLER)
    return random_letters(rng)


def label(rng: random.Random, pool: list[str] | None = None) -> str:
    """A label of one to four words. `pool`: words of the page so far; taking some of them makes labels that are easily confused."""
    count = rng.choices([1, 2, 3, 4], [45, 33, 16, 6])[0]
    words = [rng.choice(pool) if pool and rng.random() < 0.3 else word(rng) for _ in range(count)]
    style = rng.random()
    if style < 0.6:
        words = [w[:1].upper() + w[1:] for w in words]
    elif style < 0.8:
        words[0] = words[0][:1].upper() + words[0][1:]
    elif style < 0.83:
        words = [w.upper() for w in words]
    text = " ".join(words)
    if rng.random() < 0.06:
        text += rng.choice([f" {rng.randint(1, 99)}", f" ({rng.randint(0, 20)})", " & " + rng.choice(WORDS).capitalize(), "...", "?", ":",
                            f" #{rng.randint(1, 999)}", f", {rng.choice(WORDS)}", "-" + rng.choice(WORDS), "!"])
    return text


def price(rng: random.Random) -> str:
    return f"${rng.choice([rng.randint(0, 99), rng.randint(100, 999), rng.randint(1000, 1999)])}.{rng.randint(0, 99):02d}"


def date(rng: random.Random) -> str:
    day, month, year = rng.randint(1, 28), rng.randint(1, 12), rng.randint(1990, 2029)
    name = _MONTHS[month - 1]
    return rng.choice([f"{year}-{month:02d}-{day:02d}", f"{month:02d}/{day:02d}/{year}", f"{month}/{day}/{year}", f"{name} {day}, {year}",
                       f"{day} {name} {year}", f"{name[:3]} {day}, {year}"])


def email(rng: random.Random) -> str:
    name = rng.choice([rng.choice(_NAMES).lower(), random_letters(rng).lower()])
    return f"{name}{rng.choice(['', '.' + rng.choice(_NAMES).lower(), str(rng.randint(1, 99))])}@{rng.choice(WORDS)}.{rng.choice(['com', 'org', 'net', 'test'])}"


def number(rng: random.Random) -> str:
    return str(rng.choice([rng.randint(0, 9), rng.randint(10, 99), rng.randint(100, 9999)]))


def code(rng: random.Random) -> str:
    """An order number, a stock number, a telephone number, a password."""
    letters = "".join(rng.choice(string.ascii_uppercase) for _ in range(rng.randint(2, 3)))
    return rng.choice([f"{rng.randint(1, 999):09d}", f"#{rng.randint(100, 9999)}", f"{letters}-{rng.randint(10, 9999)}",
                       f"{rng.randint(200, 999)}-{rng.randint(100, 999)}-{rng.randint(1000, 9999)}",
                       "".join(rng.choice(string.ascii_letters + string.digits) for _ in range(rng.randint(2, 6)))])


def rating(rng: random.Random) -> str:
    return rng.choice([f"{rng.randint(0, 5)} of 5", f"{rng.randint(0, 4)}.{rng.randint(0, 9)}", f"{rng.randint(1, 5)} stars",
                       f"{rng.randint(0, 100)}%"])


def sentence(rng: random.Random, longest: int = 14) -> str:
    words = [rng.choice(_ENGLISH) if rng.random() < 0.45 else word(rng) for _ in range(rng.randint(3, longest))]
    text = " ".join(words)
    return text[:1].upper() + text[1:] + rng.choice([".", ".", "", "!", "?"])


def value(rng: random.Random) -> str:
    """What a cell or a text line may hold: a price, a date, a number, a word …"""
    return rng.choices([price, date, email, number, code, rating, label, word], [22, 10, 6, 14, 10, 8, 18, 12])[0](rng)


def typed(rng: random.Random) -> str:
    """What a task may ask to type: one to five words, a number, an e-mail address …"""
    roll = rng.random()
    if roll < 0.55:
        words = [word(rng) for _ in range(rng.choices([1, 2, 3, 5], [50, 30, 15, 5])[0])]
        return " ".join(w.capitalize() if rng.random() < 0.3 else w for w in words)
    return rng.choice([value, email, code, random_letters, date])(rng)
