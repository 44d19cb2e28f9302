import { afterAll, expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'

const home = await startGateway()
afterAll(() => home[Symbol.asyncDispose]())

test.each([
  ['Exchange rate of euro to dollar', 'finance'],
  ['currency conversion rate', 'finance'],
  ['bitcoin price', 'finance'],
  ['share price of Tesla', 'finance'],
  ['how much is one share of Microsoft', 'finance'],
  ['stock market index', 'finance'],
  ['wikipedia article about Berlin', 'wiki'],
  ['summary of the article on photosynthesis', 'wiki'],
  ['look up a topic in an encyclopedia', 'wiki'],
  ['read a web page', 'reader'],
  ['convert a web page to markdown', 'reader'],
  ['extract the text of a PDF', 'reader'],
])('an empty registry answers “%s” with its %s agent first', async (query, name) => {
  const { json } = await home.request('GET', `/public/agents?q=${encodeURIComponent(query)}`)
  expect(json.agents[0]?.package_name).toBe(`svc.utility.${name}`)
})
