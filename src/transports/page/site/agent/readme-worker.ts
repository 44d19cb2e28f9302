import { parentPort, workerData } from 'node:worker_threads'
import { renderMarkdown } from '../markdown.ts'

/** The entry of a thread that renders the README of a publisher, and ends: some texts take a parser minutes. */
const { text, base_url }: { readonly text: string; readonly base_url: string } = workerData

/** Links lead to the web alone: a place on the page and a mail address are text. */
function linkTo(address: string): string | undefined {
  if (address === '' || address.startsWith('#')) return undefined
  const url = URL.parse(address, base_url)
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url.href : undefined
}

parentPort?.postMessage(renderMarkdown(text, { linkTo, isForeign: true }).body.html)
