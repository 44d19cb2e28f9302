import type { Element, ElementContent } from 'hast'
import { attribute, childrenOf, element, find, isElement } from './hast.ts'

const language = /(?:^|\s)(?:language-|lang-|highlight-source-|brush:\s*)([\w+#.-]{1,30})/

function languageOf(node: Element): string | undefined {
  const stated = attribute(node, 'dataLanguage') || attribute(node, 'dataLang')
  return /^[\w+#.-]{1,30}$/.test(stated) ? stated : language.exec(attribute(node, 'className'))?.[1]
}

/** One `<code>` inside `<pre>`. It has the language that either of the two stated. */
export function tidyCode(pre: Element): Element {
  const inner = pre.children.find((child) => isElement(child, 'code'))
  const name = languageOf(pre) ?? (inner && isElement(inner) ? languageOf(inner) : undefined)
  const properties = name ? { className: [`language-${name}`] } : {}
  return element('pre', [element('code', [{ type: 'text', value: codeText(pre) }], properties)])
}

function codeText(node: Element | ElementContent): string {
  if (node.type === 'text') return node.value
  if (isElement(node, 'br')) return '\n'
  const inner = childrenOf(node).map((child) => codeText(child as ElementContent))
  // Some highlighters make each line a row, with its number in the first cell.
  if (isElement(node, 'tr')) return `${inner.filter((cell) => !isNumbers(cell)).join('')}\n`
  return inner.join('')
}

/** True for a text of line numbers only. */
export function isNumbers(text: string): boolean {
  return /^[\s\d]{0,100000}$/.test(text) && /\d/.test(text)
}

/** Highlighters name the language on a `<div>` around the `<pre>`. */
export function passLanguageOn(division: Element): Element {
  const name = languageOf(division)
  const [code, second] = name ? find(division, 'code') : []
  if (name && code && !second && !languageOf(code)) code.properties.className = [`language-${name}`]
  return division
}
