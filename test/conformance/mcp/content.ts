/** A red PNG of one pixel, and a WAV without samples. */
export const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const wav = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='

export const text = (words: string) => ({ type: 'text', text: words })
export const image = { type: 'image', data: png, mimeType: 'image/png' }
export const audio = { type: 'audio', data: wav, mimeType: 'audio/wav' }
export const resource = (uri: string, mimeType: string, words: string) => ({
  type: 'resource',
  resource: { uri, mimeType, text: words },
})
