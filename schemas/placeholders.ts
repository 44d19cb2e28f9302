import type { Publication } from './publication.ts'

/** What `dragoman init` writes where its author says nothing. A publication that still has one is refused. */
export const placeholders = {
  package_name: 'com.example.change-me',
  name: 'Name of the agent',
  description: 'Says in one sentence what the agent does.',
  endpoint: 'https://change-me.example.com/a2a',
} as const

/** JSON pointers of the fields that are still placeholders. */
export function placeholdersIn({ endpoints = [], ...texts }: Publication): string[] {
  const fields = (['package_name', 'name', 'description'] as const).filter(
    (field) => texts[field] === placeholders[field],
  )
  const urls = [...endpoints.keys()].filter((index) => endpoints[index]?.url === placeholders.endpoint)
  return [...fields.map((field) => `/${field}`), ...urls.map((index) => `/endpoints/${index}/url`)]
}
