/**
 * True if the text of a refusal says that the plan of the operator's key does not cover the requested thing. A text
 * about the number of requests is not, although it usually advertises larger plans too.
 */
export function isAboutPlan(text: string): boolean {
  const aboutPace =
    /limit|credits|quota|frequency|too many|requests? per|per (?:second|minute|hour|day|month)/i
  return /premium|\bplans?\b|subscri|upgrade/i.test(text) && !aboutPace.test(text)
}
