import { join } from 'node:path'
import { openSections, type Pieces, type Sections, writeSections } from '../../src/common/sections.ts'

interface Savable {
  save(write: (pieces: Pieces) => Promise<void>): Promise<void>
}

let files = 0

/** What `saved` saves, as files in the folder return it. */
export async function throughFiles(folder: string, saved: Savable): Promise<Sections> {
  const path = join(folder, `saved-${++files}`)
  await saved.save((pieces) => writeSections(path, pieces))
  const sections = await openSections(path)
  if (!sections) throw new Error('The snapshot was not written.')
  return sections
}
