import { describe, expect, test } from 'vitest'
import { iconWorker } from '../../../src/app/assets.ts'
import { createIconDrawer } from '../../../src/registry/publisher/icon-drawer.ts'
import { pictureSize } from '../../../src/registry/publisher/picture-size.ts'
import { pngOf, smallPictures } from '../../support/pictures.ts'

const draw = createIconDrawer(iconWorker)
const { signal } = new AbortController()
const { gif, jpeg } = smallPictures
const lossy = smallPictures['webp, lossy']
const lossless = smallPictures['webp, lossless']

function with16(bytes: Buffer, at: number, value = 16_383): Buffer {
  const copy = Buffer.from(bytes)
  copy.writeUInt16LE(value, at)
  return copy
}

describe('a picture', () => {
  test.each(Object.entries(smallPictures))('of %s is drawn anew as a square PNG', async (_, bytes) => {
    const icon = Buffer.from(await draw(bytes, signal))
    expect(pictureSize(icon)).toEqual({ width: 96, height: 96 })
    expect(icon.subarray(0, 8).toString('hex')).toBe('89504e470d0a1a0a')
    expect(icon.length).toBeLessThan(40_000)
  })

  test('that is wide stays whole, and a large one is made smaller', async () => {
    expect(pictureSize(Buffer.from(await draw(pngOf(2000, 10), signal)))).toEqual({ width: 96, height: 96 })
  })

  test('loses what stands behind it and within it', async () => {
    const polyglot = Buffer.concat([pngOf(8, 8), Buffer.from('<script>alert(1)</script>PK\x03\x04')])
    expect(Buffer.from(await draw(polyglot, signal)).toString('latin1')).not.toContain('script')
  })
})

describe('a hostile picture is refused before it takes memory:', () => {
  const jpegOf = (height: number, width: number) => {
    const copy = Buffer.from(jpeg)
    const frame = copy.indexOf(Buffer.from([0xff, 0xc0]))
    copy.writeUInt16BE(height, frame + 5)
    copy.writeUInt16BE(width, frame + 7)
    return copy
  }
  const extended = Buffer.concat([
    Buffer.from(
      'RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00',
      'latin1',
    ),
    with16(lossy, 26).subarray(12),
  ])
  const animated = Buffer.concat([
    Buffer.from('RIFF\x00\x00\x00\x00WEBPANIM\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00', 'latin1'),
    lossy.subarray(12),
  ])

  test.each<[string, Buffer]>([
    ['a PNG that claims 50,000 × 50,000 pixels (10 GB)', pngOf(1, 1, { claims: [50_000, 50_000] })],
    ['a PNG that claims no pixels', pngOf(1, 1, { claims: [0, 0] })],
    ['a PNG whose pixels are a bomb', pngOf(1, 1, { claims: [2049, 1] })],
    ['a GIF with a huge screen', with16(gif, 6, 65_535)],
    ['a JPEG of 65,500 rows', jpegOf(65_500, 65_500)],
    ['a lossy WebP of 16,383 pixels', with16(lossy, 26)],
    ['a lossless WebP of 16,383 pixels', with16(lossless, 21, 0x3fff)],
    ['a WebP whose frame is larger than its canvas', extended],
    ['an animated WebP', animated],
    ['an SVG with a script', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>x</script></svg>')],
    ['HTML', Buffer.from(`<!doctype html><title>x</title>${' '.repeat(99)}`)],
    ['an icon of Windows', Buffer.from(`\0\0\x01\0\x01\0${'\0'.repeat(99)}`)],
    ['nothing', Buffer.alloc(0)],
  ])('%s', async (_, bytes) => {
    const before = process.memoryUsage().rss
    await expect(draw(bytes, signal)).rejects.toMatchObject({ code: 'upstream_invalid' })
    expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000)
  })

  test.each<[string, Buffer]>([
    ['ends early', pngOf(64, 64).subarray(0, 60)],
    ['has fewer rows than it claims', pngOf(64, 64, { rows: 3 })],
    ['has a GIF frame outside its screen', with16(with16(gif, 32, 65_535), 34, 65_535)],
  ])('one that %s', async (_, bytes) => {
    const done = await draw(bytes, signal).catch((failure) => failure.code)
    // A decoder may fill in what is missing, and never more than the picture claims.
    if (done !== 'upstream_invalid') expect(pictureSize(Buffer.from(done))).toEqual({ width: 96, height: 96 })
  })
})

test('the thread of the gateway does not draw: it spends a small part of the CPU time of a picture', async () => {
  const picture = pngOf(2048, 2048)
  const before = { thread: process.threadCpuUsage(), all: process.cpuUsage() }
  await Promise.all([draw(picture, signal), draw(picture, signal), draw(picture, signal)])
  const thread = process.threadCpuUsage(before.thread)
  const all = process.cpuUsage(before.all)
  expect((thread.user + thread.system) / (all.user + all.system)).toBeLessThan(0.2)
})
