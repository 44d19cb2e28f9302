import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { productNamesFile } from '../../src/app/assets.ts'
import { productsOf, readProductNames } from '../../src/search/query/product-names.ts'
import { readRequest } from '../../src/search/query/request.ts'

const latinised = readProductNames(productNamesFile)
const lines = readFileSync(productNamesFile, 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))

test.each([
  ['슬랙에서 메시지 보내기', 'slack 메시지 보내기'],
  ['노션에 메모를 저장', 'notion 메모를 저장'],
  ['카카오톡메시지', 'kakaotalk 메시지'],
  ['スラックにメッセージを送る', 'slack にメッセージを送る'],
  ['发送微信消息', '发送 wechat 消息'],
  ['написать в телеграме', 'написать в telegram'],
  ['макет из фигмы', 'макет из figma'],
  ['плейлист в Спотифае', 'плейлист в spotify'],
  ['таблица Экселя', 'таблица excel'],
  ['повідомлення у слаку', 'повідомлення у slack'],
  ['сторінка в гітхабі', 'сторінка в github'],
  ['ملخص مقطع من اليوتيوب', 'ملخص مقطع من youtube'],
  ['रिपोर्ट स्लैक पर भेजो', 'रिपोर्ट slack पर भेजो'],
])('the product in %j is read by its Latin name', (text, expected) => {
  expect(latinised(text).replace(/\s+/g, ' ').trim()).toBe(expected)
})

test.each([
  'ゴジラの映画',
  'インスタンスを起動する',
  '물건이지라도',
  'жирный текст',
  'send a slack message',
  'Приветствие',
])('%j has no name of a product, and stays as it is', (text) => {
  expect(latinised(text)).toBe(text)
})

test.each([
  ['이메일, 구글 말고', 'google'],
  ['поиск без гугла', 'google'],
  ['بحث في الويب بدون جوجل', 'google'],
  ['गूगल के बिना इंटरनेट खोज', 'google'],
  ['グーグル以外の検索', 'google'],
])('a request that excludes a product by its name in another script excludes it: %j', (text, excluded) => {
  expect(readRequest(latinised(text)).excluded).toBe(excluded)
})

test('each form stands for one product alone, and no form is Latin', () => {
  const forms = lines.flatMap((line) => line.split(' = ')[1]?.split(', ') ?? [])
  expect(forms.length).toBeGreaterThan(200)
  expect(new Set(forms).size).toBe(forms.length)
  expect(forms.filter((form) => /^[\p{ASCII}]+$/u.test(form))).toEqual([])
  for (const line of lines) expect(line).toMatch(/^[a-z]+ = \S/)
})

test('a maker has products whose names do not say so', () => {
  expect(productsOf('google')).toContain('gmail')
  expect(productsOf('nobody')).toEqual([])
})
