// Stands in for @huggingface/transformers: it does as config.json's `fake` and the texts say, and reports on a channel.
const { BroadcastChannel } = require('node:worker_threads')
const { readFileSync } = require('node:fs')

const env = {
  version: '4.0.0',
  allowRemoteModels: true,
  useFSCache: true,
  useWasmCache: true,
  logLevel: 30,
  fetch: null,
}
const topics = [/flight|plane/, /rain|weather/, /dinner|meal/, /share|stock/]

async function pipeline(task, folder, options) {
  const { fake = {}, hidden_size } = JSON.parse(readFileSync(`${folder}/config.json`, 'utf8'))
  const dimensions = fake.dimensions ?? hidden_size
  const channel = new BroadcastChannel(fake.channel ?? 'nobody')
  channel.unref()
  channel.postMessage({
    loaded: {
      task,
      folder,
      options,
      env: { ...env, fetch: String(await env.fetch().catch((e) => e.message)) },
    },
  })
  console.log('noise')
  if (fake.load === 'reject') throw new Error('Load model failed:Protobuf parsing failed.\nat somewhere')
  if (fake.load === 'die') process.exit(1)
  if (fake.load === 'late') await new Promise((resolve) => setTimeout(resolve, 1000))

  const vector = (text) => {
    const found = topics.map((topic) => (fake.sense === 'none' ? 1 : Number(topic.test(text))))
    const values = [...found, text.length / 1000, text.charCodeAt(0) / 1000, ...Array(dimensions - 6).fill(0)]
    const norm = Math.hypot(...values)
    return Float32Array.from(values, (value) => value / norm)
  }
  const extract = async (text, { pooling, normalize }) => {
    if (typeof text !== 'string' || pooling !== 'mean' || !normalize) throw new Error('asked wrongly')
    channel.postMessage({ text })
    if (text === 'die') process.exit(1)
    if (text === 'throw') throw new Error('Non-zero status code')
    if (text === 'NaN') return { data: new Float32Array(hidden_size).fill(Number.NaN) }
    if (text === 'short') return { data: new Float32Array(3) }
    if (text === 'hang') await new Promise(() => {})
    if (text === 'uncaught') {
      setImmediate(() => {
        throw new Error('out of nowhere')
      })
      await new Promise(() => {})
    }
    if (text === 'hold') {
      channel.ref()
      await new Promise((resolve) => {
        channel.onmessage = resolve
      })
      channel.onmessage = null
      channel.unref()
    }
    return { data: vector(text) }
  }
  const vocabulary = Array.from({ length: fake.vocabulary ?? 10 }, (_, index) => [`piece ${index}`, index])
  extract.tokenizer = { model_max_length: fake.max_length ?? 256, get_vocab: () => new Map(vocabulary) }
  return extract
}

module.exports = { env, pipeline }
