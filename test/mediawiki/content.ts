import { crc32, deflateSync } from 'node:zlib'
import type { Content } from './peer.ts'

const lines = Array.from({ length: 400 }, (_, index) => `This is line ${index} of a long page.`)
const links = Array.from({ length: 60 }, (_, index) => `Meaning ${String(index).padStart(2, '0')}`)

/** The wiki of the tests. Every text is ours. */
export const content: Content = {
  pages: {
    'River Spree':
      "[[File:Spree.png|thumb|Water]]\nThe '''Spree''' is a river &amp; a [[Bank|name]]. It flows through [[Berlin]]. It is long. It is slow.\n\n== History ==\nOld.",
    Spree: '#REDIRECT [[River Spree]]',
    'Spree (river)': '#REDIRECT [[River Spree]]',
    Käse: "'''Käse''' is how cheese is called in [[Berlin]].",
    Berlin: "'''Berlin''' is a city on the [[River Spree]]. It has a river. It has an airport.",
    Havel: 'The Havel is a river. The Spree ends in it.',
    Müggelspree: 'A part of the Spree river: the river of rivers, river upon river.',
    Bank: "'''Bank''' may mean:\n* [[River Spree]], which has two\n* [[Bank]], this page\n* [[Bank (money)]], not yet written\n[[Category:Disambiguation pages]]",
    'Many meanings': `'''Many''' may mean:\n${links.map((title) => `* [[${title}]]`).join('\n')}\n[[Category:All article disambiguation pages]]`,
    'Almost a bank': "'''Almost''' a bank.\n[[Category:Articles with links needing disambiguation]]",
    'Long page': lines.join(' '),
    Empty: '== Only a heading ==\nNo introduction.',
    ...Object.fromEntries(links.map((title) => [title, `${title} is one of many.`])),
  },
  files: { 'Spree.png': png(200, 150) },
}

/** A grey picture (PNG, ISO/IEC 15948). */
function png(width: number, height: number): Uint8Array {
  const size = Buffer.alloc(13)
  size.writeUInt32BE(width, 0)
  size.writeUInt32BE(height, 4)
  size[8] = 8
  const rows = deflateSync(Buffer.alloc((width + 1) * height, 0).fill(0x80, 1, width))
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([signature, chunk('IHDR', size), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))])
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}
