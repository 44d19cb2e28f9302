import { parentPort, workerData } from 'node:worker_threads'
import { PhotonImage, resize, SamplingFilter } from '@silvia-odwyer/photon-node'

/** The entry of a thread that draws one picture anew, as a PNG in a square, and ends. */
const { bytes, side }: { readonly bytes: Uint8Array; readonly side: number } = workerData
parentPort?.postMessage(squareOf(PhotonImage.new_from_byteslice(bytes)))

/** The picture in the middle of a square, as large as fits; what it does not cover is transparent. */
function squareOf(picture: PhotonImage): Uint8Array {
  const [width, height] = [picture.get_width(), picture.get_height()]
  const scale = side / Math.max(width, height)
  const [wide, high] = [width, height].map((length) => Math.max(1, Math.round(length * scale))) as [
    number,
    number,
  ]
  const pixels = resize(picture, wide, high, SamplingFilter.Lanczos3).get_raw_pixels()
  const square = new Uint8Array(side * side * 4)
  const [left, top] = [Math.floor((side - wide) / 2), Math.floor((side - high) / 2)]
  for (let row = 0; row < high; row++) {
    square.set(pixels.subarray(row * wide * 4, (row + 1) * wide * 4), ((top + row) * side + left) * 4)
  }
  return new PhotonImage(square, side, side).get_bytes()
}
