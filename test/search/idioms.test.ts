import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { idiomsFile } from '../../src/app/assets.ts'
import { createMemoryIndex } from '../../src/search/index/memory-index.ts'
import { readIdioms } from '../../src/search/query/idioms.ts'
import { ask, documentOf } from './support/documents.ts'

const restate = readIdioms(idiomsFile)
const lines = readFileSync(idiomsFile, 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [phrases = '', meant] = line.split(' > ')
    return line.startsWith('#') || meant === undefined ? [] : [{ phrases: phrases.split(', '), meant }]
  })

describe('what people say', () => {
  it.each([
    ['need a place to sleep in Rome', 'need a hotel accommodation in Rome'],
    ['Turn off the lights in the kitchen', 'smart home control in the kitchen'],
    ["what's on this weekend", 'local events'],
    ['is our website down again?', 'is our website uptime status again?'],
    ['where is your package', 'shipment tracking'],
    ['someone to read my pdf out loud', 'someone to read my pdf text to speech'],
    [
      'We go to a wedding in June. I need a bed for the night.',
      'We go to a wedding in June. I need a hotel accommodation.',
    ],
    ['a knowledge graph of my notes', 'a knowledge graph of my notes'],
  ])('is read in the words of agents: "%s"', (text, expected) => {
    expect(restate(text)).toBe(expected)
  })

  it('is read by the longest phrase', () => {
    expect(restate('send a text message to my mom')).toBe('sms to my mom')
  })

  it.each([
    'weather in Rome',
    'a place for notes',
    'I plan the opening of a small shop in May, look for a place to stay for my team, and want all of it in one table',
    'The graph of our sales is wrong in the report that Jane sent to every partner.',
    '',
  ])('is left as it is where it has no idiom, or is not about it: "%s"', (text) => {
    expect(restate(text)).toBe(text)
  })

  it('finds the agent that describes it', async () => {
    const index = createMemoryIndex({ restate })
    const documents = [
      documentOf({ id: 'wait', name: 'Sleep', description: 'Waits for some time in a place of a script' }),
      documentOf({ id: 'hotels', name: 'Rooms', description: 'Searches for hotel accommodation' }),
    ]
    await index.apply(
      documents.map((document) => ({ id: document.id, document })),
      1,
    )
    const text = 'a place to sleep in Rome'
    expect((await ask(index, { text })).hits.map(({ id }) => id)).toEqual(['hotels'])
    expect((await ask(index, { text, exact: true })).hits[0]?.id).toBe('wait')
    expect((await ask(index, { text: 'Sleep' })).hits[0]?.id).toBe('wait')
  })
})

describe('the list of idioms', () => {
  it('has each phrase once, and reads each alone as its line says', () => {
    const phrases = lines.flatMap((line) => line.phrases)
    expect(new Set(phrases).size).toBe(phrases.length)
    const others = lines.flatMap(({ phrases, meant }) =>
      phrases.filter((phrase) => restate(phrase.replace(/\bmy\b/, 'our')) !== meant),
    )
    expect(others).toEqual([])
  })

  it('changes nothing in what it says itself', () => {
    expect(lines.filter(({ meant }) => restate(meant) !== meant)).toEqual([])
  })
})
