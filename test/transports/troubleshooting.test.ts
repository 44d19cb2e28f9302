import { afterAll, expect, test } from 'vitest'
import { codes } from '../../schemas/failure.ts'
import { guideOf } from '../support/documents.ts'
import { startGateway } from '../support/gateway.ts'

const guide = guideOf('troubleshooting.md')

const home = await startGateway()
afterAll(() => home[Symbol.asyncDispose]())

test('docs/troubleshooting.md has a section with an example for each code, and for nothing else', () => {
  const sections = guide.split(/^## /m).slice(1)
  expect(sections.map((section) => section.split('\n')[0]).sort()).toEqual(Object.keys(codes).sort())
  expect(sections.filter((section) => !/^Example: /m.test(section))).toEqual([])
})

test('the type of a problem links to the section of its code', async () => {
  const { json } = await home.request('GET', '/public/agents/nobody')
  expect(json.type).toBe(`${home.url}/docs/errors#not_found`)
  const page = await fetch(json.type)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  const html = await page.text()
  for (const code of Object.keys(codes))
    expect(html).toContain(`<h2 id="${code}"><a href="#${code}">${code}</a></h2>`)
  expect(html).not.toContain('```')
})

test('the problem at the head of the guide is what a caller gets', async () => {
  const [, shown = '{}'] = /```json\n(.*?)```/s.exec(guide) ?? []
  const { json } = await home.request('GET', '/public/agents/svc.utility.wik')
  const { type, instance, ...problem } = JSON.parse(shown)
  expect(json).toMatchObject(problem)
  expect(new URL(type).hash).toBe(new URL(json.type).hash)
})
