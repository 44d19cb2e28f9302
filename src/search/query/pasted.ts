const launchers = [
  'npx|bunx|pnpx|uvx|pipx',
  String.raw`(?:npm|pnpm|yarn|bun)\s+(?:i|install|add|exec|dlx|x)`,
  String.raw`pip3?\s+install|pipx\s+(?:run|install)|uv\s+(?:add|tool\s+(?:run|install)|pip\s+install)`,
  String.raw`docker\s+(?:run|pull)|(?:go|cargo|brew)\s+install`,
].join('|')
const command = new RegExp(String.raw`^(?:\$\s+)?(?:sudo\s+)?(?:${launchers})\s+(\S.*)$`, 'su')
/** Options with a value of their own, such as `-e KEY`; every other word that begins with a hyphen is an option alone. */
const option = /^-(?:e|v|p)$|^--(?:env|volume|publish|name|network|python|with)$/
const tag = /(?<=.)(?:@|:|==)[\w.^~*-]+$/
const page =
  /^(?:https?:\/\/)?(?:www\.)?(?:npmjs\.com\/package|pypi\.org\/project|hub\.docker\.com\/r|github\.com|gitlab\.com)\/((?:@?[\w.-]+\/)?[\w.-]+?)(?:\.git)?(?:[/?#]\S*)?$/
const maxCharacters = 500

/**
 * The package in a pasted command that installs or runs it, or in the address of its page; other texts as they are:
 * `npx -y @acme/mail@latest` is `@acme/mail`.
 */
export function withoutCommand(text: string): string {
  if (text.length > maxCharacters) return text
  const [, named] = page.exec(text) ?? []
  if (named !== undefined) return named
  const [, rest] = command.exec(text) ?? []
  return (rest && packageOf(rest.split(/\s+/))) ?? text
}

function packageOf(words: readonly string[]): string | undefined {
  const name = words.find((word, at) => !word.startsWith('-') && !option.test(words[at - 1] ?? ''))
  return name?.replace(tag, '')
}
