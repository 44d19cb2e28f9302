import { styleText } from 'node:util'
import { expect, test } from 'vitest'
import { withoutControls } from '../../src/cli/output.ts'

test.each([
  ['sets the title of a window', 'a\u001b]0;owned\u0007b', 'a]0;ownedb'],
  ['moves the cursor', 'a\u001b[2Ab\rc', 'a[2Abc'],
  ['turns the text around', 'a\u202eb', 'ab'],
  ['holds C1 controls', 'a\u009b2Jb', 'a2Jb'],
  ['is in several lines', 'a\n\tb', 'a\n\tb'],
  ['has colours of ours', styleText('red', 'a', { validateStream: false }), '\u001b[31ma\u001b[39m'],
])('a text that %s goes to the terminal without what would command it', (_, text, shown) => {
  expect(withoutControls(text)).toBe(shown)
})
