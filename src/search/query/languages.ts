import { stopWords } from './stop-words.ts'

/** How a language asks: its words and phrases without information about the request. */
export interface Language {
  /** Folded words: lower case, without accents. */
  readonly words: ReadonlySet<string>
  /** Phrases of scripts without spaces, or endings of words, which are cut out of a query. */
  readonly phrases?: RegExp
}

const catalogueWords = 'agent agents tool tools mcp server servers'

function wordsOf(...lines: readonly string[]): ReadonlySet<string> {
  return new Set([...lines, catalogueWords].join(' ').split(' '))
}

const german = wordsOf(
  'der die das den dem des ein eine einen einem einer eines kein keine keinen keiner dieser diese dieses diesen',
  'ich mir mich mein meine meinen meinem meiner meines du dir dich dein deine wir uns unser unsere unseren ihr ihre',
  'ihren er sie es ihm ihn ihnen man jemand jemanden etwas alles alle allen jede jeder jedes jeden',
  'wer was wie wo wann warum welche welcher welches welchen ob dass wenn weil als also und oder aber nicht nur auch',
  'noch schon mal bitte danke hallo gerne gern jetzt heute morgen hier dort da dann so sehr mehr viel viele',
  'in im ins an am auf aus bei beim mit nach von vom vor zu zum zur uber unter um fur durch gegen ohne bis seit',
  'ist sind war waren bin bist sein seid hat habe haben hatte wird werden wurde kann konnen kannst konnte muss mussen',
  'soll sollen sollte will wollen mochte mochten wurde wurden brauche brauchen braucht benotige suche suchen such',
  'finde finden hilf hilft helfen zeig zeige zeigen gib geben sag sage sagen lass lassen mache machen mach tun',
  'werkzeug werkzeuge programm dienst assistent etwas irgendwas mir',
  'andere anderer anderes anderen anderem außer',
  'fuer ueber koennen koennte wuerde wuerden moechte moechten muessen benoetige',
)
const spanish = wordsOf(
  'el la los las lo un una unos unas al del de a en y e o u pero que como cuando donde quien cual cuales cuanto',
  'yo me mi mis mio tu te tus usted nos nosotros nuestro nuestra nuestros nuestras su sus se le les ellos ella',
  'este esta estos estas ese esa eso esto aquel algun alguna algo alguien todo toda todos todas cada otro otra',
  'para por con sin sobre entre hasta desde hacia segun durante contra tras ya no si mas muy tan tambien solo',
  'es son era ser soy estoy esta estan estar hay ha he han haber tengo tiene tener puedo puede puedes pueden poder',
  'quiero quiere queremos quisiera necesito necesita necesitamos necesitar busco buscar busca encontrar encuentra',
  'ayuda ayudame ayudar muestra mostrar muestrame dame dar dime hacer haz hace hazme favor gracias hola ahora hoy',
  'manana aqui alli herramienta herramientas agente agentes servicio asistente gustaria',
  'excepto distinto distinta distintos distintas diferente diferentes',
)
const french = wordsOf(
  'le la les l un une des du de d au aux a en et ou mais donc que qu qui quoi dont comme quand comment pourquoi quel',
  'quelle quels quelles je j me m moi mon ma mes tu te t toi ton ta tes nous notre nos vous votre vos il elle on ils',
  'elles lui leur leurs se s son sa ses ce c cet cette ces cela ca celui tout toute tous toutes chaque autre quelque',
  'quelques chose quelqu pour par avec sans sur sous dans entre vers chez depuis jusque pendant contre ne n pas plus',
  'tres si aussi y est sont etre suis etes etait ai as avez ont avoir a peux peut pouvez peuvent pouvoir veux veut',
  'voulez voudrais vouloir faut besoin cherche chercher trouve trouver trouvez aide aider aidez aidez montre montrer',
  'montrez donne donner donnez dis dire faire fais fait faites merci bonjour svp plait maintenant aujourd hui demain',
  'ici la outil outils agents service assistant aimerais autres sauf',
)
const portuguese = wordsOf(
  'o a os as um uma uns umas ao aos do da dos das de d no na nos nas em num numa pelo pela pelos pelas e ou mas que',
  'quem qual quais quando onde como porque eu me mim meu minha meus minhas tu te voce voces seu sua seus suas nos',
  'nosso nossa nossos nossas ele ela eles elas lhe lhes se isto isso aquilo este esta esse essa algum alguma algo',
  'alguem todo toda todos todas cada outro outra para pra por com sem sobre entre ate desde nao sim mais muito tao',
  'tambem so ja e sao era ser sou estou esta estao estar ha tem tenho ter pode posso podem poder quero quer queremos',
  'queria gostaria preciso precisa precisamos precisar procuro procurar procura encontrar encontre ajuda ajude ajudar',
  'ajudem mostra mostre mostrar da dar diga dizer fazer faz faca favor obrigado obrigada ola agora hoje amanha aqui',
  'ferramenta ferramentas agente agentes servico assistente exceto diferente diferentes',
)
const italian = wordsOf(
  'il lo la i gli le l un uno una di del dello della dei degli delle d a al allo alla ai agli alle da dal dalla dai',
  'in nel nello nella nei nelle con su sul sulla sui sulle per tra fra e ed o ma che chi cui come quando dove quale',
  'quali perche quanto io mi me mio mia miei mie tu ti te tuo tua ci noi nostro nostra vi voi vostro lui lei loro si',
  'suo sua suoi questo questa questi queste quello quella qualche qualcosa qualcuno tutto tutta tutti tutte ogni altro',
  'non piu molto anche solo gia se e sono era essere sei ho ha hai hanno avere posso puo puoi possono potere voglio',
  'vuole vorrei vogliamo devo bisogno serve cerco cercare cerca trovare trova trovami aiuta aiutami aiutare mostra',
  'mostrami mostrare dammi dare dimmi dire fare fa fai fammi favore grazie ciao ora oggi domani qui strumento',
  'strumenti agente agenti servizio assistente senza fino tranne diverso diversa diversi',
  'cosa c dell all dall nell sull dov com quest quell',
)
const russian = wordsOf(
  'и в во не на я с со как а то все она так его но да ты к у же вы за бы по только ее мне меня мой моя мои мое моего',
  'было вот от из ему теперь когда даже ну ли если уже или ни быть был него до вас опять уж вам ведь там потом себя',
  'ничего ей может они тут где есть надо ней для мы нас нам наш наша наши тебя тебе их чем была сам чтоб чтобы без',
  'будто чего раз тоже себе под будет ж тогда кто этот эта это эти этого того потому какой какая какие какое ним здесь',
  'этом один одну почти тем над при об о про через между помоги помогите помочь найди наити найти найдите ищу искать',
  'нужен нужна нужно нужны хочу хотел хотела хотим хотелось можно могу можешь можете покажи покажите показать дай',
  'даите дайте скажи скажите сделай сделаи сделать пожалуйста пожалуиста спасибо привет сейчас сеичас сегодня завтра',
  'инструмент инструменты агент агенты сервис помощник кроме',
)

const chinese =
  /我(?:想要?|需要|要)|(?:请|能不能|可以)?帮(?:我|忙|助)?|请(?:问)?|给我|有没有|怎么样?|如何|什么|哪个|可以|一[个下些]|这个|那个|现在|今天|工具|智能体|助手|[的了吗呢吧把将和]/gu
const japanese =
  /(?:を|に|は|が|で|の|と|も|へ|から|まで|して|する|した|したい|たい|ほしい|欲しい|ください|下さい|お願いします|お願い|教えて|できる|です|ます|ました|この|その|私|何|今日|ツール|エージェント|探して|見つけて|手伝って|くれる|くれ|ため)+(?=[^\p{scx=Hira}]|$)/gu
const korean =
  /(?:해\s?(?:줘|주세요|줄래)|싶어요?|싶습니다|찾아\s?(?:줘|주세요)|보여\s?(?:줘|주세요)|알려\s?(?:줘|주세요)|도와\s?(?:줘|주세요)|필요(?:해요?|합니다)?|하고|나는|내가|저는|제가|오늘|지금|좀|도구|에이전트)|(?<=\p{scx=Hang})(?:에서|에게|으로|[을를은는이가에의로와과도])(?=\s|$)/gu

export const english: Language = { words: stopWords }
const inLatin: readonly Language[] = [german, spanish, french, portuguese, italian].map((words) => ({
  words,
}))
const byScript: readonly (readonly [script: RegExp, language: Language])[] = [
  [/[\p{scx=Hira}\p{scx=Kana}]/u, { words: stopWords, phrases: japanese }],
  [/\p{scx=Hang}/u, { words: stopWords, phrases: korean }],
  [/\p{scx=Han}/u, { words: stopWords, phrases: chinese }],
  [/\p{scx=Cyrl}/u, { words: russian }],
]

/** Stop words of other languages that are words of English too: they do not show that a query is in another language. */
const alsoEnglish = wordsOf(
  'a aide also am an as assistant bin can car chose come con dame dare den des die dire dis do dos dove e en era',
  'es est et fa fait fare favor file for gern ha hat hay he her hi ho i il in is it la lass le les lo los ma man',
  'mas me mean mi mine mit no non nous o on one or par pas pendant per plus pour sa sage sans se sea see serve',
  'service si sin so sol solo son sono soy sur tan te ti to todo todos ton tons tout tu tun um un via war was',
  'were will y',
)

/**
 * The language of a query of folded words: by its script, else the one of German, Spanish, French, Portuguese and
 * Italian with the most stop words in it, if they are more than its English ones; else English. Words that are English
 * too count only in a text that is known to be foreign.
 */
export function languageOf(text: string, words: readonly string[], isForeign = false): Language {
  const scripted = /[^\p{ASCII}]/u.test(text) ? byScript.find(([script]) => script.test(text)) : undefined
  if (scripted) return scripted[1]
  let best = english
  let most = isForeign ? 0 : countIn(english, words)
  for (const language of inLatin) {
    const count = countIn(language, words)
    // A single letter is as likely a name: the language C.
    const isEvident = words.some(
      (word) => word.length > 1 && language.words.has(word) && !alsoEnglish.has(word) && !stopWords.has(word),
    )
    if (!(isForeign || isEvident) || count <= most) continue
    best = language
    most = count
  }
  return best
}

function countIn(language: Language, words: readonly string[]): number {
  return words.filter((word) => language.words.has(word)).length
}
