const formula =
  /<script[^>]{0,200}?type=["']?math\/tex(;\s?mode=display)?["']?[^>]{0,100}>([\s\S]{1,5000}?)<\/script>/gi
const frame = /<iframe\b([^>]{1,1500})>/gi
const recording = /<(video|audio)\b[^>]{0,500}?\ssrc=["']([^"'<>]{1,500})["']/gi

/**
 * Rewrites embedded content that later steps would drop: formulas in scripts (MathJax 2), and links to videos and
 * recordings.
 */
export function unpackEmbedded(html: string): string {
  let written = html
  if (/math\/tex/i.test(html)) {
    written = written.replace(formula, (_, display: string | undefined, tex: string) => {
      const mode = display ? ' display="block"' : ''
      return `<math${mode}><annotation encoding="application/x-tex">${tex.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</annotation></math>`
    })
  }
  if (/<(?:video|audio)\b/i.test(html)) {
    written = written.replace(recording, (tag, name: string, address: string) => {
      return `<p><a href="${address}">${name.toLowerCase() === 'video' ? 'Video' : 'Recording'}</a></p>${tag}`
    })
  }
  if (!/<iframe\b/i.test(html)) return written
  return written.replace(frame, (tag, attributes: string) => {
    const video = videoOf(attributeOf(attributes, 'src') || attributeOf(attributes, 'data-src'))
    const title = attributeOf(attributes, 'title').replaceAll('<', '&lt;')
    return video ? `<p><a href="${video}">${title || 'Video'}</a></p>${tag}` : tag
  })
}

function attributeOf(attributes: string, name: string): string {
  return new RegExp(`(?:^|\\s)${name}=["']([^"'<>]{1,500})["']`, 'i').exec(attributes)?.[1] ?? ''
}

/** The page on which a person would watch the video of a player; null for other frames. */
function videoOf(address: string): string | null {
  const youtube = /^(?:https?:)?\/\/(?:www\.)?youtube(?:-nocookie)?\.com\/embed\/([\w-]{6,20})/.exec(
    address,
  )?.[1]
  if (youtube) return `https://www.youtube.com/watch?v=${youtube}`
  const vimeo = /^(?:https?:)?\/\/player\.vimeo\.com\/video\/(\d{1,15})/.exec(address)?.[1]
  return vimeo ? `https://vimeo.com/${vimeo}` : null
}
