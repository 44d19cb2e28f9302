import { getDocumentProxy } from 'unpdf'
import { Failure } from '../../../schemas/failure.ts'
import type { Extracted, Reading } from '../port.ts'
import { noMetadata } from './verbatim.ts'

const max = {
  pages: 200,
  characters: 1_500_000,
  /** Milliseconds after which no further page is read. */
  time: 2_000,
}

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>

/**
 * The text of a PDF, page by page; text in pictures is not recognised. Throws Failure `upstream_invalid` for a PDF
 * that is broken or needs a password.
 */
export async function readPdf(body: Uint8Array): Promise<Reading & { page_count: Extracted['page_count'] }> {
  const started = performance.now()
  try {
    const pdf = await getDocumentProxy(new Uint8Array(body), { verbosity: 0 })
    const pages: string[] = []
    let characters = 0
    while (pages.length < Math.min(pdf.numPages, max.pages)) {
      if (characters > max.characters || performance.now() - started > max.time) break
      const text = await textOfPage(pdf, pages.length + 1)
      characters += text.length
      pages.push(text)
    }
    const content = pages.filter(Boolean).join('\n\n')
    return {
      ...noMetadata,
      ...(await aboutOf(pdf)),
      content,
      extractor: 'pdf',
      page_count: pdf.numPages,
      empty_reason: content === '' ? 'no_text' : null,
      warnings:
        pages.length < pdf.numPages
          ? [`Only the first ${pages.length} of ${pdf.numPages} pages were read.`]
          : [],
    }
  } catch (error) {
    throw unreadable(error)
  }
}

async function textOfPage(pdf: Pdf, number: number): Promise<string> {
  const page = await pdf.getPage(number)
  const { items } = await page.getTextContent()
  page.cleanup()
  const text = items.map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : '')).join('')
  return text.replace(/[ \t]+\n/g, '\n').trim()
}

async function aboutOf(pdf: Pdf) {
  const { info } = await pdf.getMetadata()
  const metadata = (name: string) => {
    const value: unknown = Reflect.get(info, name)
    return typeof value === 'string' ? value.trim().slice(0, 1000) || null : null
  }
  return { title: metadata('Title'), byline: metadata('Author'), published: dateOf(metadata('CreationDate')) }
}

/** `D:20260304050607Z` as a date (ISO 32000-1, 7.9.4). */
function dateOf(date: string | null): string | null {
  const found = /^D:(\d{4})(\d{2})(\d{2})/.exec(date ?? '')
  return found ? found.slice(1).join('-') : null
}

function unreadable(error: unknown): Failure {
  const isLocked = error instanceof Error && error.name === 'PasswordException'
  const detail = isLocked ? 'The PDF needs a password.' : 'The PDF is broken and cannot be read.'
  return new Failure('upstream_invalid', detail, {}, error)
}
