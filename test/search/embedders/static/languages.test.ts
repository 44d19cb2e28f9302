import { cp, mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { languagesModel, staticModel } from '../../../../src/app/assets.ts'
import type { Embedder } from '../../../../src/search/embedders/embedder.ts'
import { createStaticEmbedder } from '../../../../src/search/embedders/static/static-embedder.ts'
import { normalForm } from '../../../../src/search/embedders/static/writing.ts'
import { temporaryFolder } from '../../../support/command.ts'

const { signal } = new AbortController()
const agents = ['weather forecast', 'send an email', 'translate text', 'search flights', 'play music']

describe('words of other languages', () => {
  let embedder: Embedder
  let alone: Embedder
  beforeAll(async () => {
    embedder = await createStaticEmbedder(staticModel, languagesModel)
    alone = await createStaticEmbedder(staticModel)
  })

  it.each([
    [
      'German',
      ['Wettervorhersage', 'eine E-Mail senden', 'Text übersetzen', 'Flüge suchen', 'Musik abspielen'],
    ],
    [
      'Spanish',
      [
        'pronóstico del tiempo',
        'enviar un correo electrónico',
        'traducir texto',
        'buscar vuelos',
        'reproducir música',
      ],
    ],
    [
      'French',
      [
        'prévisions météo',
        'envoyer un e-mail',
        'traduire un texte',
        'chercher des vols',
        'jouer de la musique',
      ],
    ],
    [
      'Italian',
      ['previsioni meteo', "inviare un'email", 'tradurre il testo', 'cercare voli', 'riprodurre musica'],
    ],
    [
      'Portuguese',
      ['previsão do tempo', 'enviar um e-mail', 'traduzir texto', 'procurar voos', 'tocar música'],
    ],
    ['Russian', ['прогноз погоды', 'отправить письмо', 'перевести текст', 'поиск рейсов', 'включить музыку']],
    ['Japanese', ['天気予報', 'メールを送信', 'テキストを翻訳', 'フライトを検索', '音楽を再生']],
    ['Korean', ['일기 예보', '이메일 보내기', '텍스트 번역', '항공편 검색', '음악 재생']],
    ['Chinese', ['天气预报', '发送电子邮件', '翻译文本', '搜索航班', '播放音乐']],
    [
      'Dutch',
      ['de weersverwachting', 'een mail versturen', 'tekst vertalen', 'vluchten zoeken', 'muziek afspelen'],
    ],
    [
      'Polish',
      ['prognoza pogody', 'wyślij maila', 'przetłumacz ten tekst', 'wyszukaj loty', 'odtwarzać muzykę'],
    ],
    ['Czech', ['předpověď počasí', 'pošli e-mail', 'přelož text', 'vyhledat lety', 'přehrát hudbu']],
    ['Swedish', ['väderprognos', 'skicka ett mejl', 'översätt texten', 'söka efter flyg', 'spela musik']],
    ['Danish', ['vejrudsigten', 'send en mail', 'oversæt teksten', 'søg efter flyrejser', 'afspil musik']],
    ['Turkish', ['hava tahmini', 'e-posta gönder', 'metni çevir', 'uçuşları ara', 'müzik çal']],
    ['Indonesian', ['prakiraan cuaca', 'kirim surel', 'terjemahkan teks', 'cari penerbangan', 'putar musik']],
    [
      'Ukrainian',
      ['прогноз погоди', 'надіслати листа', 'перекласти текст', 'шукати авіаквитки', 'увімкни музику'],
    ],
    [
      'Arabic',
      ['توقعات الطقس', 'أرسل بريدا إلكترونيا', 'ترجمة النص', 'البحث عن رحلات الطيران', 'تشغيل الموسيقى'],
    ],
    ['Hindi', ['मौसम का पूर्वानुमान', 'ईमेल भेजो', 'पाठ का अनुवाद करो', 'उड़ानें खोजो', 'संगीत चलाओ']],
  ])('in %s are nearest to what they mean in English', async (_, requests) => {
    const [meant, vectors] = await Promise.all([agents, requests].map((texts) => vectorsOf(embedder, texts)))
    const nearest = vectors!.map((vector) => {
      const cosines = meant!.map((other) => cosine(vector, other))
      return agents[cosines.indexOf(Math.max(...cosines))]
    })
    expect(nearest).toEqual(agents)
  })

  it('reach the search by words as English', async () => {
    expect(await english('Rechnung')).toMatch(/bill|invoice/)
    expect(await english('天气')).toContain('weather')
    expect(await english('создать файл в GitHub')).toMatch(/create .*file .*github/)
  })

  it.each([
    ['Bildbearbeitung', ['image', 'editing']],
    ['Terminplanung', ['appointment', 'booking']],
    ['Flugsuche', ['flight', 'search']],
    ['facturas', ['invoice']],
    ['cuánto gastamos', ['spend']],
    ['купила билеты', ['buy', 'ticket']],
    ['buscar vuelos baratos', ['search', 'flight']],
    ['fuer die Uebersetzung', ['translation']],
    ['забронировать гостиницу', ['hotel']],
    ['спросить о погоде', ['weather']],
    ['электронными таблицами', ['electronic', 'spreadsheet']],
    ['заброньований готель', ['hotel']],
    ['takvimime toplantı ekle', ['calendar', 'meeting', 'add']],
    ['والمكتبات في المدن', ['city']],
    ['пам’ять ноутбука', ['memory', 'laptop']],
  ])('are known by their form alone where the table lacks it: %s', async (text, expected) => {
    expect((await english(text)).split(/\s+/)).toEqual(expect.arrayContaining(expected))
  })

  it.each([
    ['wat is de kortste route naar Utrecht', 'short route to utrecht'],
    ['het wordt weer voor Utrecht', 'weather utrecht'],
    ['flyg från Stockholm till Paris', 'flight from stockholm to paris'],
  ])('leave what says nothing: %s', async (text, expected) => {
    const words = new Set((await english(text)).split(/\s+/).filter(Boolean))
    for (const word of expected.split(' ')) expect(words).toContain(word)
    for (const word of text.split(' ').slice(0, 2)) expect(words).not.toContain(word)
  })

  it.each(['jest', 'het', 'Jest', 'در'])('are kept where nothing else is said: %s', async (text) => {
    expect(await english(text)).toBe(text)
  })

  it('are left out of the English words on request, and still show the language', async () => {
    const words = await embedder.inEnglish!('crear una factura para mis clientes', new Set(['una', 'para']))
    expect(words.split(/\s+/).filter(Boolean)).toEqual([
      'create',
      'invoice',
      'bill',
      'updated',
      'my',
      'customer',
      'client',
    ])
  })

  it('are left out of the English words where English has the same letters', async () => {
    const words = await embedder.inEnglish!('traduzir e resumir o texto', new Set(['e', 'o']))
    expect(words.split(/\s+/)).toContain('text')
    expect(words).not.toMatch(/\b[eo]\b/)
  })

  it('are not read by a piece within them', async () => {
    const [request, maps, app] = await vectorsOf(embedder, ['mappe senza', 'maps', 'app'])
    expect(cosine(request!, maps!)).toBeGreaterThan(cosine(request!, app!))
  })

  it('stay as they are where they are names of the field', async () => {
    expect(await english('gerenciar contêineres Docker')).toMatch(/manage +container +docker/)
    expect(await english('hacer scraping con javascript')).toMatch(/scraping .*javascript/)
  })

  it('change nothing in an English text, loanwords and names included', async () => {
    const texts = [
      'Search flights to Las Vegas and São Paulo',
      'kubernetes deployment via helm, die casting',
      'Find a café near me',
      'An MCP server for Notion, Figma and Linear',
      'Sonos, Aptos, Votars and Lichess',
      'hostinger',
      'Vue components and a Vite plugin',
      'notifications, pagination, visualizations and customizable calculators',
    ]
    expect(await Promise.all(texts.map(english))).toEqual(texts)
    expect(await vectorsOf(embedder, texts)).toEqual(await vectorsOf(alone, texts))
  })

  it('count as covered, and unknown ones do not', async () => {
    const [german, chinese, thai] = await embedder.embed(
      ['Wetter für morgen', '天气预报', 'สภาพอากาศ'],
      'query',
      signal,
    )
    expect(german!.coverage).toBeGreaterThan(0.7)
    expect(chinese!.coverage).toBeGreaterThan(0.7)
    expect(thai!.coverage).toBe(0)
  })

  it('take any text: mixed scripts, emoji, halves of characters', async () => {
    const texts = [
      '天气 weather Wetter погода 날씨',
      '😀'.repeat(1000),
      'ü\ud83d天\u0301가',
      'é'.repeat(5000),
      '天'.repeat(5000),
    ]
    const embeddings = await embedder.embed(texts, 'query', signal)
    for (const { vector, coverage } of embeddings) {
      expect(vector.every(Number.isFinite)).toBe(true)
      expect(coverage).toBeGreaterThanOrEqual(0)
      expect(coverage).toBeLessThanOrEqual(1)
    }
    expect((await english('天'.repeat(5000))).length).toBeLessThan(100_000)
  })

  it('are read at the first text that needs them, and a damaged file is named then', async () => {
    await using copy = await temporaryFolder()
    await cp(languagesModel, copy.path, { recursive: true })
    await truncate(join(copy.path, 'rows.bin'), 1000)
    const damaged = await createStaticEmbedder(staticModel, copy.path)
    expect(await vectorsOf(damaged, ['send an email'])).toEqual(await vectorsOf(alone, ['send an email']))
    const refused = { code: 'unavailable', message: expect.stringContaining('rows.bin') }
    await expect(damaged.embed(['eine Rechnung'], 'query', signal)).rejects.toMatchObject(refused)
    const facts = join(copy.path, 'facts.bin')
    await cp(join(languagesModel, 'rows.bin'), join(copy.path, 'rows.bin'))
    const content = await readFile(facts)
    content[content.length >> 1]! ^= 1
    await writeFile(facts, content)
    await expect(
      (await createStaticEmbedder(staticModel, copy.path)).inEnglish!('eine Rechnung'),
    ).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('facts.bin'),
    })
  })

  it('have the English of the lists of words, where one language has the word', async () => {
    const translations = new Map<string, Set<string>>()
    for (const name of await readdir(join(languagesModel, 'words'))) {
      const lines = (await readFile(join(languagesModel, 'words', name), 'utf8')).split('\n')
      for (const line of lines.filter((text) => text !== '' && !text.startsWith('#'))) {
        const [, meant, words] =
          /^(-|[a-z0-9][a-z0-9 .'+-]*) = ([\p{L}\p{M}ー々〆’]+(?:, [\p{L}\p{M}ー々〆’]+)*)$/u.exec(line) ?? []
        expect([name, line, meant, words]).not.toContain(undefined)
        for (const word of words!.split(', ')) {
          const form = normalForm(word)
          translations.set(form, (translations.get(form) ?? new Set()).add(meant === '-' ? '' : meant!))
        }
      }
    }
    const single = [...translations].filter(
      ([word, meant]) => meant.size === 1 && /[^\p{scx=Latn}]/u.test(word),
    )
    expect(single.length).toBeGreaterThan(10_000)
    // A word that says nothing is not dropped where it is all that a text says.
    for (const [word, [meant]] of single)
      expect([word, (await english(word)).trim()]).toEqual([word, meant === '' ? word : meant])
  })

  it('that several languages have are read in the language of the text', async () => {
    await using copy = await temporaryFolder()
    await cp(languagesModel, copy.path, { recursive: true })
    await rm(join(copy.path, 'words'), { recursive: true })
    await mkdir(join(copy.path, 'words'))
    await writeFile(join(copy.path, 'words', 'one.txt'), '# One\n\nletter = zarfo\nsend = mirto\n')
    await writeFile(join(copy.path, 'words', 'other.txt'), 'menu = zarfo\nread = pelmo, pelmos\n')
    const { inEnglish } = await createStaticEmbedder(staticModel, copy.path)
    expect((await inEnglish!('mirto zarfo')).split(/\s+/)).toEqual(expect.arrayContaining(['send', 'letter']))
    expect((await inEnglish!('pelmo zarfo')).split(/\s+/)).toEqual(expect.arrayContaining(['read', 'menu']))
  })

  it('are part of the name of the model, so that another table embeds the entries anew', () => {
    expect(embedder.model).not.toBe(alone.model)
  })

  const english = (text: string) => embedder.inEnglish!(text)
})

async function vectorsOf(embedder: Embedder, texts: readonly string[]): Promise<Float32Array[]> {
  return (await embedder.embed(texts, 'query', signal)).map(({ vector }) => vector)
}

function cosine(left: Float32Array, right: Float32Array): number {
  return left.reduce((sum, value, at) => sum + value * right[at]!, 0)
}
