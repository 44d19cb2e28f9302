/** A minimal PDF: pages of lines in Helvetica, metadata, and further entries for its trailer. */
export function pdfOf(
  pages: readonly (readonly string[])[],
  about: Readonly<Record<string, string>> = {},
  trailer = '',
): Buffer {
  const objects = ['<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>']
  const add = (object: string) => objects.push(object)
  const parent = 2 + 2 * pages.length
  const kids = pages.map((lines) => {
    const shown = lines.map((line) => `(${line.replace(/[\\()]/g, '\\$&')}) Tj T*`).join('\n')
    const stream = `BT /F1 12 Tf 72 720 Td 14 TL\n${shown}\nET`
    const content = add(`<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`)
    const resources = '/Resources << /Font << /F1 1 0 R >> >>'
    return add(
      `<< /Type /Page /Parent ${parent} 0 R /MediaBox [0 0 612 792] ${resources} /Contents ${content} 0 R >>`,
    )
  })
  add(`<< /Type /Pages /Kids [${kids.map((kid) => `${kid} 0 R`).join(' ')}] /Count ${kids.length} >>`)
  const root = add(`<< /Type /Catalog /Pages ${parent} 0 R >>`)
  const info = add(
    `<< ${Object.entries(about)
      .map(([name, value]) => `/${name} (${value})`)
      .join(' ')} >>`,
  )
  let written = '%PDF-1.4\n'
  const offsets = objects.map((object, index) => {
    const offset = written.length
    written += `${index + 1} 0 obj\n${object}\nendobj\n`
    return `${String(offset).padStart(10, '0')} 00000 n \n`
  })
  const size = objects.length + 1
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${offsets.join('')}`
  const end = `trailer\n<< /Size ${size} /Root ${root} 0 R /Info ${info} 0 R ${trailer} >>`
  return Buffer.from(`${written}${table}${end}\nstartxref\n${written.length}\n%%EOF\n`, 'latin1')
}

/** The trailer entry of a PDF that needs a password. */
export const locked = `/Encrypt << /Filter /Standard /V 1 /R 2 /O (${'a'.repeat(32)}) /U (${'a'.repeat(32)}) /P -4 >> /ID [(${'b'.repeat(16)}) (${'b'.repeat(16)})]`
