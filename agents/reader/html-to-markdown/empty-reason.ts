/** The reasons why a page has next to no content. */
export const emptyReasons = [
  'js_only_page',
  'login_wall',
  'paywall',
  'blocked',
  'not_found',
  'no_match',
  'no_text',
] as const
export type EmptyReason = (typeof emptyReasons)[number]

/** The observations from which the reason is derived. */
interface Signs {
  /** Characters of the content, without white space. */
  readonly length: number
  readonly title: string
  /** Text of the content. */
  readonly text: string
  readonly scripts: number
  readonly asks_password: boolean
  readonly asks_for_script: boolean
  /** The page states that it is not free to read (schema.org `isAccessibleForFree`). */
  readonly is_sold: boolean
}

/** Characters below which content counts as next to none, for each other sign of the page. */
const thresholds = { script: 200, login: 500, wall: 1500, missing: 800, paywall: 2000 }

const wallTitle =
  /^(?:just a moment|attention required|access denied|access to this page has been denied|pardon our interruption|(?:are you a )?robot(?: or human)?\b|ddos-guard|security check|human verification|bot verification|please verify|verif(?:y|ying) you are|one more step|checking your browser|request (?:blocked|rejected)|blocked$|captcha)/i
const wallText =
  /(?:verify|confirm|prove|make sure)(?: that)? you(?:'re|’re| are) (?:a human|human|not a (?:ro)?bot)|checking (?:if the site connection is secure|your browser before)|unusual (?:traffic|activity) from your|(?:solve|complete|enter) (?:the|this) captcha|you have been blocked|automated (?:access|requests|queries)|enable javascript and cookies to continue|i(?:'|’)m not a robot/i
const missingTitle =
  /^(?:(?:error\s*)?404\b|(?:the )?(?:page|file|article|document|content)(?: you[\w ]{0,30})? (?:was |is |could |can)?(?:not|n['’]t|cannot)(?: be)? (?:found|exist)|not found\b|page (?:doesn['’]t|does not) exist|nothing (?:was )?found|seite nicht gefunden|page (?:non trouvée|introuvable)|página no encontrada)|(?:[-–—|·:]\s*(?:404|(?:page )?not found))\s*$/i

/** The reason why a page has next to no content; null if it has enough. The most specific reason takes precedence. */
export function emptyReason(signs: Signs): EmptyReason | null {
  const { length, title, text } = signs
  const start = text.slice(0, 5000)
  if (length < thresholds.wall && (wallTitle.test(title.trim()) || wallText.test(start))) return 'blocked'
  if (length < thresholds.missing && missingTitle.test(title.trim().slice(0, 300))) return 'not_found'
  if (signs.asks_password && length < thresholds.login) return 'login_wall'
  if (signs.is_sold && length < thresholds.paywall) return 'paywall'
  if (
    signs.scripts > 0 &&
    length < thresholds.script &&
    (signs.asks_for_script || length < thresholds.script / 4)
  ) {
    return 'js_only_page'
  }
  return length === 0 ? 'no_text' : null
}
