import type { Element, Root } from 'hast'
import { attribute, find, rewrite, textOf } from './hast.ts'

const furniture = new Set(['nav', 'footer', 'aside'])
const furnitureRole = /^(?:navigation|banner|contentinfo|search|alert|dialog|complementary|menu|toolbar)$/i
const furnitureName =
  /(?:^|[\s_-])(?:cookies?|consent|gdpr|breadcrumbs?|share|sharing|social|sidebar|newsletter|subscribe|promo|advert\w*|ads?|popup|modal|navbar|nav|masthead|skip-link|footer|related)(?:$|[\s_-])/i

/** What holds more of the page's text than this is the page, whatever it is called. */
const mostOfPage = 0.4

/** The whole page without its furniture: what readability is measured against, and replaced by where it keeps too little. */
export function cleaned(page: Root): Root {
  const root = mainOf(page)
  const large = textOf(root).length * mostOfPage
  return rewrite(root, (element) => (isFurniture(element) && textOf(element).length < large ? [] : [element]))
}

/** The one `<main>`, where there is one and it holds most of what is said. */
function mainOf(page: Root): Root {
  const [main, second] = find(page, 'main')
  if (!main || second || textOf(main).length < textOf(page).length / 2) return page
  return { type: 'root', children: [main] }
}

function isFurniture(element: Element): boolean {
  if (furniture.has(element.tagName)) return true
  if (element.tagName === 'header') return find(element, 'h1').length === 0
  if (furnitureRole.test(attribute(element, 'role'))) return true
  if (element.tagName !== 'div' && element.tagName !== 'section' && element.tagName !== 'ul') return false
  return furnitureName.test(`${attribute(element, 'className')} ${attribute(element, 'id')}`.slice(0, 500))
}
