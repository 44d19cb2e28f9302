import type { EmptyReason } from './port.ts'

/** What is known of a page when its content has been found. */
export interface Signs {
  /** Of the longest candidate, blanks left out. */
  readonly length: number
  readonly title: string
  /** The words of the content. */
  readonly text: string
  readonly scripts: number
  readonly asks_password: boolean
  readonly asks_for_script: boolean
  /** It says that it is not to be read for free (schema.org `isAccessibleForFree`). */
  readonly is_sold: boolean
}

/** Below these many characters a page says next to nothing. */
const few = { beside_script: 200, beside_login: 500, at_wall: 1500, of_nothing: 800, before_payment: 2000 }

const wallTitle =
  /^(?:just a moment|attention required|access denied|access to this page has been denied|pardon our interruption|(?:are you a )?robot(?: or human)?\b|ddos-guard|security check|human verification|bot verification|please verify|verif(?:y|ying) you are|one more step|checking your browser|request (?:blocked|rejected)|blocked$|captcha)/i
const wallText =
  /(?:verify|confirm|prove|make sure)(?: that)? you(?:'re|’re| are) (?:a human|human|not a (?:ro)?bot)|checking (?:if the site connection is secure|your browser before)|unusual (?:traffic|activity) from your|(?:solve|complete|enter) (?:the|this) captcha|you have been blocked|automated (?:access|requests|queries)|enable javascript and cookies to continue|i(?:'|’)m not a robot/i
const missingTitle =
  /^(?:(?:error\s*)?404\b|(?:the )?(?:page|file|article|document|content)(?: you[\w ]{0,30})? (?:was |is |could |can)?(?:not|n['’]t|cannot)(?: be)? (?:found|exist)|not found\b|page (?:doesn['’]t|does not) exist|nothing (?:was )?found|seite nicht gefunden|page (?:non trouvée|introuvable)|página no encontrada)|(?:[-–—|·:]\s*(?:404|(?:page )?not found))\s*$/i

/** Why a page says next to nothing; null where it says something. The most telling sign counts. */
export function emptyReason(signs: Signs): EmptyReason | null {
  const { length, title, text } = signs
  const start = text.slice(0, 5000)
  if (length < few.at_wall && (wallTitle.test(title.trim()) || wallText.test(start))) return 'blocked'
  if (length < few.of_nothing && missingTitle.test(title.trim().slice(0, 300))) return 'not_found'
  if (signs.asks_password && length < few.beside_login) return 'login_wall'
  if (signs.is_sold && length < few.before_payment) return 'paywall'
  if (
    signs.scripts > 0 &&
    length < few.beside_script &&
    (signs.asks_for_script || length < few.beside_script / 4)
  ) {
    return 'js_only_page'
  }
  return length === 0 ? 'no_text' : null
}

const hints: Record<EmptyReason, string> = {
  js_only_page:
    'The page is written by its script, which is not run here. Look for an API, a feed or a print version.',
  login_wall: 'The page is shown after a login. Nothing is logged in here; look for a public version.',
  paywall: 'The page is sold, and this is its beginning. Look for the same text elsewhere.',
  blocked: 'The server lets browsers in and no programs. Look for the same text elsewhere, or for an API.',
  not_found: 'The server answers 200 but says that there is no such page. Check the URL.',
  no_match: 'Nothing on the page matches the selector. Read it without one to see what is there.',
  no_text: 'The page has no text: it may be made of pictures.',
}

/** What to do about a page that says next to nothing. */
export function hintFor(reason: EmptyReason | null): string | null {
  return reason === null ? null : hints[reason]
}
