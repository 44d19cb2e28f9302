import { expect, test } from 'vitest'
import { passedAgents, viaOf } from '../../schemas/via.ts'

test('what a call has passed comes back as it went', () => {
  const agents = ['com.example.weather', 'io.github.user/server', '']
  expect(viaOf(agents)).toBe(
    '1.1 dragoman (com.example.weather), 1.1 dragoman (io.github.user/server), 1.1 dragoman',
  )
  expect(passedAgents(viaOf(agents))).toEqual(agents)
})

test.each([
  ['other proxies are passed over', '1.0 fred, 1.1 dragoman (a.b), 2 p.example.net (Apache)', ['a.b']],
  ['a comment that is no name counts for nothing', '1.1 dragoman (<script>)', []],
  ['nothing is nothing', '', []],
  [
    'a long one is cut',
    `${'1.1 dragoman (a.b), '.repeat(10_000)}1.1 dragoman (c.d)`,
    expect.not.arrayContaining(['c.d']),
  ],
])('%s', (_, via, agents) => {
  expect(passedAgents(via)).toEqual(agents)
})
