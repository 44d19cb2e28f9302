import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { analyse } from '../../src/search/query/analyse.ts'
import { readQuery } from '../../src/search/query/query-terms.ts'
import { growth } from '../support/growth.ts'

function terms(text: string): string[] {
  const found: string[] = []
  analyse(text, (term) => found.push(term))
  return found
}

describe('analysis', () => {
  it.each([
    ['getCurrentPrice', ['current', 'price', 'getcurrentpric']],
    ['HTMLParser', ['html', 'parser', 'htmlparser']],
    ['search_page', ['search', 'page', 'searchpag']],
    ['md2pdf', ['md', '2', 'pdf', 'md2pdf']],
    ['gpt4o', ['gpt', '4', 'o', 'gpt4o']],
    ['com.example.weather', ['com', 'exampl', 'weather', 'comexampleweath']],
    ['npm.exa-mcp', ['npm', 'exa', 'examcp', 'npmexamcp']],
    ['12306', ['12306']],
    ['postgresql', ['postgresql']],
  ])('cuts the identifier %s into pieces and keeps it whole', (identifier, expected) => {
    expect(terms(identifier)).toEqual(expect.arrayContaining(expected))
  })

  it('tells C#, F# and C++ from C and F', () => {
    expect(terms('C# and C++, F#')).toEqual(['c#', 'and', 'c++', 'f#'])
    expect(terms('C# é')).toEqual(['c#', 'e'])
    expect(terms('vitamin C, abc#')).toEqual(['vitamin', 'c', 'abc'])
    expect(readQuery('c').map(({ term }) => term)).toEqual(['c'])
  })

  it('gives one identifier the same term in every style', () => {
    const styles = ['searchPage', 'search_page', 'search-page', 'SearchPage']
    for (const style of styles) expect(terms(style)).toEqual(terms('searchPage'))
  })

  it('compares without case, accents, width or inflection', () => {
    expect(terms('CAFÉ')).toEqual(terms('cafe'))
    expect(terms('ＡＰＩ')).toEqual(['api'])
    expect(terms('running emails')).toEqual(terms('run email'))
  })

  it('cuts Thai, Lao, Khmer and Burmese into pairs, vowels and tones included', () => {
    const thai = new Set(terms('พยากรณ์อากาศวันนี้'))
    expect(terms('อากาศ').every((pair) => thai.has(pair))).toBe(true)
    expect(terms('ທ່ານ')).toEqual(['ທ່', '່າ', 'ານ'])
    expect(terms('Weather อากาศ')[0]).toBe('weather')
  })

  it('cuts Han, kana and Hangul into pairs, separate from adjacent text', () => {
    expect(terms('查询12306余票')).toEqual(['查询', '12306', '余票'])
    expect(terms('データ')).toEqual(['デー', 'ータ'])
    expect(terms('한국어')).toEqual(['한국', '국어'])
    expect(terms('票')).toEqual(['票'])
    expect(terms('が')).toEqual(['が'])
  })

  it('reads plain text alone as it reads it beside another script', () => {
    const character = fc.constantFrom(...'aZbQ019._/- \n\t()')
    const text = fc.string({ unit: character, maxLength: 40 })
    for (const plain of fc.sample(text, 500)) expect(terms(`${plain} é`)).toEqual([...terms(plain), 'e'])
  })

  it('drops terms too long to be words', () => {
    expect(terms('a'.repeat(65))).toEqual([])
    expect(terms('1'.repeat(64))).toHaveLength(1)
  })

  it.each(['a', 'aB1', 'a.', 'a-', '.', '火', 'word ', '\u0301', 'É', 'ed'])(
    'takes time in proportion to 400 KB of %j',
    async (piece) => {
      const text = (length: number) => piece.repeat(length / piece.length)
      const [small, large] = [text(100_000), text(400_000)]
      expect(
        await growth(
          () => terms(small),
          () => terms(large),
        ),
      ).toBeLessThan(10)
    },
  )
})

describe('a query', () => {
  const words = (text: string) => readQuery(text).map(({ term }) => term)

  it('loses the boilerplate of requests', () => {
    expect(words('Can you please help me find an agent to send emails?')).toEqual(['send', 'email'])
  })

  it('keeps a character that a phrase leaves alone, and the pair in which entries hold it', () => {
    expect(words('책을 찾아줘')).toEqual(['책', '책을'])
    expect(words('吗书')).toEqual(['书', '吗书'])
    expect(words('请问电子书吗')).toEqual(['电子', '子书'])
  })

  it('of boilerplate only has no words', () => {
    expect(words('find me a tool')).toEqual([])
  })

  it.each([
    ['suche etwas, um eine PDF in Text umzuwandeln', ['pdf', 'text', 'umzuwandeln']],
    ['necesito enviar un correo a mi jefe', ['enviar', 'correo', 'jefe']],
    ['je voudrais traduire une page en anglais', ['traduire', 'page', 'anglais']],
    ['preciso de uma previsão do tempo', ['previsao', 'tempo']],
    ['vorrei prenotare un hotel', ['prenotare', 'hotel']],
    ['помоги мне найти погоду', ['погоду']],
    ['帮我发一封电子邮件', ['发一', '一封', '封电', '电子', '子邮', '邮件']],
    ['天気を教えてください', ['天気']],
    ['날씨 알려줘', ['날씨']],
    ['die weather report of our sun', ['die', 'weather', 'report', 'sun']],
    ['todo app', ['todo', 'app']],
    ['customer service assistant', ['customer', 'service', 'assistant']],
    ['train fare', ['train', 'fare']],
  ])('in another language loses that language’s own boilerplate: %s', (text, expected) => {
    const written = readQuery(text).flatMap((term) => [...term.words])
    const folded = written.map((word) =>
      word
        .normalize('NFD')
        .replace(/[\u0300-\u036f]/g, '')
        .normalize('NFC'),
    )
    expect(folded).toEqual(expected)
  })

  it('keeps the written words of a term and counts them', () => {
    const [term] = readQuery('Emails email')
    expect(term).toEqual({ term: 'email', words: new Set(['emails', 'email']), count: 2 })
  })

  it('has at most 256 terms', () => {
    const text = Array.from({ length: 800 }, (_, index) => `w${index}`).join(' ')
    expect(readQuery(text)).toHaveLength(256)
  })
})
