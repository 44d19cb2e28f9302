import { describe, expect, it } from 'vitest'
import { absencesOf } from '../../src/search/query/absences.ts'
import { directionsAsked, directionsOf, reversed, withConnectors } from '../../src/search/query/directions.ts'
import { withoutCommand } from '../../src/search/query/pasted.ts'
import { readQuery } from '../../src/search/query/query-terms.ts'
import { readRequest } from '../../src/search/query/request.ts'
import { growth } from '../support/growth.ts'
import { ask, documentOf, indexOf } from './support/documents.ts'

const idsOf = async (documents: readonly Parameters<typeof documentOf>[0][], text: string) => {
  const { hits } = await ask(await indexOf(documents.map(documentOf)), { text })
  return hits.map(({ id }) => id)
}

describe('a request', () => {
  it.each([
    ['web search but not google', 'google'],
    ['search without Google or Bing', 'google bing'],
    ['mail other than gmail, please', 'gmail'],
    ['calendar -google', 'google'],
    ["a vector store that isn't pinecone", 'pinecone'],
    ['cloud hosting not aws', 'aws'],
    ['image generation, no openai please', 'openai'],
    ['weather without an account', 'account'],
    ['E-Mail ohne Google', 'google'],
    ['correo sin google', 'google'],
    ['Suche, aber nicht Google', 'google'],
    ['Karten ohne die Google Dienste', 'google dienste'],
    ['mapas pero no google', 'google'],
    ['une carte mais pas google', 'google'],
    ['карты, но не гугл', 'гугл'],
    ['ein anderer Kalender als Google', 'google'],
    ['correo que no sea gmail', 'gmail'],
    ['búsqueda que no use Google', 'google'],
    ['agenda que não seja do google', 'google'],
    ['un calendrier autre que google', 'google'],
    ["traducteur qui n'est pas deepl", 'deepl'],
    ['posta che non sia gmail', 'gmail'],
    ['calendario diverso da google', 'google'],
    ['un correo que no uso', ''],
    ['senza google', ''],
    ['地图服务，不要百度', '百度'],
    ['不用谷歌的搜索', '谷歌'],
    ['除了百度以外的搜索引擎', '百度'],
    ['Google以外の地図', 'google'],
    ['maps, nothing from google', 'google'],
    ['a chat tool besides slack', 'slack'],
    ['crm apart from salesforce', 'salesforce'],
    ['note taking, notion excluded', 'notion'],
    ['Kalender, kein Google', 'google'],
    ['Suche statt Google', 'google'],
    ['Chat abgesehen von Slack', 'slack'],
    ['notas en vez de notion', 'notion'],
    ['notes à part notion', 'notion'],
    ['mapas, menos google', 'google'],
    ['carte, pas Google', 'google'],
    ['recherche au lieu de google', 'google'],
    ['note invece di notion', 'notion'],
    ['notas em vez de notion', 'notion'],
    ['карты, только не Google', 'google'],
    ['поиск вместо google', 'google'],
    ['почта не gmail', 'gmail'],
    ['Notionじゃないメモ', 'notion'],
    ['slack 없이 메시지', 'slack'],
    ['notion 아닌 메모', 'notion'],
    ['别用谷歌的地图', '谷歌'],
    ['非google搜索', 'google'],
    ['聊天工具，slack除外', 'slack'],
    ['plus and minus buttons', ''],
    ['不用OpenAI生成图片', 'openai'],
    ['グーグルを使わない検索', 'グーグル'],
    ['구글 말고 다른 지도', '구글'],
    ['speech to text, not text to speech', ''],
    ['my server is not working', ''],
    ['enviar un aviso a menos que llueva', ''],
    ['I am not an expert', ''],
    ['I do not know what to cook', ''],
    ["don't use openai for image generation", 'openai'],
    ["weather that I don't want to pay for", ''],
    ['alternatives to Google Maps', 'google'],
    ['a replacement for slack', 'slack'],
    ['Alternative zu Google Maps', 'google'],
    ['alternativa a Jira', 'jira'],
    ['une alternative à Slack', 'slack'],
    ['альтернатива гуглу', 'гуглу'],
    ['alternative energy prices', ''],
    ['not google', ''],
    ['-google', ''],
    ['e-mail from 9-17', ''],
  ])('excludes what it names: %s', (text, excluded) => {
    expect(readRequest(text).excluded).toBe(excluded)
  })

  it('keeps its own words when it excludes others or states a time', () => {
    expect(readRequest('web search but not google').intent.trim()).toBe('web search')
    expect(readRequest('slides by Monday').intent.trim()).toBe('slides')
    expect(readRequest('by Monday').intent).toBe('by Monday')
    expect(readRequest('monday boards').intent).toBe('monday boards')
    expect(readRequest('alternatives to Google Maps').intent.trim()).toBe('Google Maps')
    expect(readRequest('地图服务，不要百度').intent.trim()).toBe('地图服务')
    expect(readRequest('Google以外の地図').intent.trim()).toBe('の地図')
  })

  it.each([
    ['weather without an account', 'weather without an account'],
    ['feeds for sites without RSS', 'feeds for sites without RSS'],
    ['run numpy, no docker', 'run numpy'],
    ['maps without Komoot', 'maps'],
    ['meteo senza chiave', 'meteo senza chiave'],
    ['un site sans code', 'un site sans code'],
    ['notas sin slack', 'notas  sin'],
    ['карты, но не гугл', 'карты но не'],
    ['搜索，不用slack', '搜索'],
  ])('cuts out the names that it excludes, not conditions, which agents state too: %s', (text, intent) => {
    expect(readRequest(text).intent.trim()).toBe(intent)
  })

  it('keeps the word that shows its language when it excludes others', () => {
    expect(readRequest('mappe senza Google').intent.trim()).toMatch(/^mappe +senza$/)
    expect(readQuery('mappe senza').map(({ term }) => term)).toEqual(['mapp'])
  })

  it('tells where something is from a name', () => {
    expect(readRequest('ramen near the office').intent).not.toContain('near')
    expect(readRequest('earthquakes near Tokyo').intent).not.toContain('near')
    expect(readRequest('balance on NEAR Protocol').intent).toContain('NEAR')
    expect(readRequest('near protocol').intent).toContain('near')
  })

  it('takes capitals for names', () => {
    const words = (text: string) => readQuery(text).map(({ term }) => term)
    expect(words('statistics of the WHO')).toEqual(['statist', 'who'])
    expect(words('who has statistics')).toEqual(['statist'])
    expect(words('WHO HAS STATISTICS')).toEqual(['statist'])
    expect(words('cats AND dogs')).toEqual(['cat', 'dog'])
  })

  it.each([
    '不要',
    '地图以外',
    '地图除外',
    'a statt ',
    ' excluded',
    ', pas ',
    ' 없이',
    '구글 말고',
    'not ',
    'que no ',
    'andere a als ',
    'no a a a ',
    'without a or ',
    ' -a',
    'a, ',
    'no a or ',
    'to ',
    'by on ',
    'isn’t a and ',
    '   ',
    'word',
  ])('of many "%s" is read in time proportional to its length', async (part) => {
    const read = (times: number) => () => {
      for (let round = 0; round < 10; round++) {
        directionsAsked(readRequest(part.repeat(times)).intent)
        absencesOf(part.repeat(times))
      }
    }
    expect(await growth(read(200), read(800))).toBeLessThan(10)
  })
})

describe('a pasted text', () => {
  it.each([
    ['npx -y @acme/mail-mcp@latest', '@acme/mail-mcp'],
    ['uvx mail-server --port 8000', 'mail-server'],
    ['$ pip install mail-server==1.2', 'mail-server'],
    ['docker run -i --rm -e API_KEY mcp/mail:1.0', 'mcp/mail'],
    ['npm install -g mail-mcp', 'mail-mcp'],
    ['https://www.npmjs.com/package/@acme/mail-mcp', '@acme/mail-mcp'],
    ['https://pypi.org/project/mail-server/', 'mail-server'],
    ['https://github.com/acme/mail-mcp.git', 'acme/mail-mcp'],
    ['https://github.com/acme/mail-mcp/tree/main', 'acme/mail-mcp'],
    ['run docker containers', 'run docker containers'],
    ['docker run', 'docker run'],
    ['npm packages', 'npm packages'],
    ['https://example.com/a/b', 'https://example.com/a/b'],
  ])('is the package that it names: %s', (text, name) => {
    expect(withoutCommand(text)).toBe(name)
  })

  it('finds the agent of the package first', async () => {
    const documents = [
      { id: 'other', name: 'Mail', description: 'npx runs the mail server of acme, mail-mcp.' },
      { id: 'own', name: 'Post office', package_name: 'npm.acme/mail-mcp', description: 'Letters.' },
    ]
    expect((await idsOf(documents, 'npx -y @acme/mail-mcp'))[0]).toBe('own')
  })
})

describe('what a query excludes', () => {
  const documents = [
    { id: 'named', name: 'Google Search', description: 'Web search.' },
    { id: 'mentions', name: 'Finder', description: 'Web search with the index of Google.' },
    { id: 'free', name: 'Duck', description: 'A web search that respects its users and their lives.' },
  ]

  it('ranks last where it is in the name, then where it is in the text', async () => {
    expect((await idsOf(documents, 'google web search'))[0]).toBe('named')
    expect(await idsOf(documents, 'web search but not google')).toEqual(['free', 'mentions', 'named'])
  })

  it('is no fault of an agent that says it does without', async () => {
    const [key, free] = ['with API keys.', 'through the API of Meteo without requiring API keys or setup.']
    const weather = [
      { id: 'key', name: 'Forecast', description: `Weather ${key}` },
      { id: 'free', name: 'Sky', description: `Weather ${free}` },
    ]
    const { hits } = await ask(await indexOf(weather.map(documentOf)), { text: 'weather without an api key' })
    expect(hits.map(({ id, why }) => [id, why.scores.excluded])).toEqual([
      ['free', undefined],
      ['key', 0.6],
    ])
  })

  it.each([
    ['Rain, no API key required.', ['-api', '-kei']],
    ['It does not need an account', ['-account']],
    ['without the need for authentication', ['-authent']],
    ['works without leaving Slack', []],
    ['no weather in Slack', []],
  ])('is what a text states to do without: %s', (text, expected) => {
    expect([...absencesOf(text)]).toEqual(expected)
  })

  it('is told as a factor of the score', async () => {
    const { hits } = await ask(await indexOf(documents.map(documentOf)), { text: 'web search -google' })
    const factors = Object.fromEntries(hits.map(({ id, why }) => [id, why.scores.excluded]))
    expect(factors).toEqual({ free: undefined, mentions: 0.6, named: 0.25 })
    for (const { why } of hits) expect(why.scores.lexical).toBeGreaterThan(0.3)
  })

  it('fits less probably', async () => {
    const { hits } = await ask(await indexOf(documents.map(documentOf)), { text: 'web search -google' })
    const confidences = Object.fromEntries(hits.map(({ id, confidence = 0 }) => [id, confidence]))
    expect(confidences.mentions! / confidences.free!).toBeCloseTo(0.6)
    expect(confidences.named! / confidences.free!).toBeCloseTo(0.25)
  })

  it('lowers an agent of two sources, of which one does not have it, in neither score nor confidence', async () => {
    const [, mentions, free] = documents
    const [alone] = (await ask(await indexOf([documentOf(free!)]), { text: 'web search -google' })).hits
    const sources = [
      { ...mentions!, source: 'one', agent_keys: ['duck'], callable: 'open' as const },
      { ...free!, source: 'other', agent_keys: ['duck'], callable: 'stated' as const },
    ]
    const { hits } = await ask(await indexOf(sources.map(documentOf)), { text: 'web search -google' })
    expect(hits.map(({ id, alternatives }) => [id, alternatives])).toEqual([['mentions', ['free']]])
    expect(hits[0]!.confidence).toBeCloseTo(alone!.confidence!)
  })
})

describe('directions', () => {
  it.each([
    ['Convert a PDF file to Markdown', ['pdf>markdown']],
    ['pdf2md', ['pdf>markdown']],
    ['from English into German', ['english>german']],
    ['Turns PDF, Word (docx) or HTML documents into plain text', ['html>plain', 'word>plain', 'pdf>plain']],
    ['speech-to-text', ['speech>text']],
    ['text to speech', ['text>speech']],
    ['makes a PDF out of Markdown', ['markdown>pdf']],
    ['captions out of the audio', ['audio>caption']],
  ])('of "%s"', (text, expected) => {
    expect([...directionsOf(text)]).toEqual(expect.arrayContaining(expected))
  })

  it.each([
    ['PDF to Word', 'pdf>word'],
    ['convertir un document Word en PDF', 'word>pdf'],
    ['pasar de PDF a Word', 'pdf>word'],
    ['PDF in Word umwandeln', 'pdf>word'],
    ['von PDF nach Markdown', 'pdf>markdown'],
    ['конвертировать PDF в Word', 'pdf>word'],
    ['把PDF转换成Markdown', 'pdf>markdown'],
    ['PDFをWordに変換', 'pdf>word'],
    ['PDF를 Word로 변환', 'pdf>word'],
  ])('that a request of any language asks for: "%s"', (text, expected) => {
    expect([...directionsAsked(text)]).toContain(expected)
  })

  it.each([
    ['日本語から英語に翻訳', '日本語 to 英語に翻訳'],
    ['音声をテキストに変換', '音声 to テキストに変換'],
    ['음성을 텍스트로 변환', '음성 to 텍스트로 변환'],
    ['da indirizzo a coordinate', 'da indirizzo to coordinate'],
    ['convertire documenti in PDF', 'convertire documenti to PDF'],
    ['寿司を食べに行く', '寿司を食べに行く'],
  ])('have their connector in English: "%s"', (text, expected) => {
    expect(withConnectors(text)).toBe(expected)
  })

  it('are turned round', () => {
    expect(reversed('pdf>text')).toBe('text>pdf')
    expect(directionsOf('to be or not to be').size).toBe(0)
  })

  it('order agents that have the same words', async () => {
    const documents = [
      { id: 'back', name: 'A', description: 'Converts markdown to pdf.' },
      {
        id: 'forth',
        name: 'B',
        description: 'Converts pdf to markdown for documents of users.',
      },
    ]
    expect(await idsOf(documents, 'pdf to markdown')).toEqual(['forth', 'back'])
    expect(await idsOf(documents, 'markdown to pdf')).toEqual(['back', 'forth'])
  })
})
