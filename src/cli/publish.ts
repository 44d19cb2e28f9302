import { readFile } from 'node:fs/promises'
import { Failure } from '../../schemas/failure.ts'
import { parseObject } from './call.ts'
import { openClient } from './client.ts'
import { print } from './output.ts'

/** Creates an agent from a file; with --live, publishes it too. */
export async function publish(file: string, { live }: { live?: boolean }, json: boolean): Promise<void> {
  const text = await readFile(file, 'utf8').catch((fault) => {
    throw new Failure('invalid_request', `${file} cannot be read.`, {}, fault)
  })
  const params = parseObject(text, 'The contents of the file')
  await using client = await openClient()
  const to = 'svc.registry'
  let entry = (await client.send({ to, action: 'publish', params })) as {
    id: string
    package_name: string
    state: string
  }
  if (live)
    entry = (await client.send({ to, action: 'go_live', params: { agent: entry.id } })) as typeof entry
  print(json ? entry : `${entry.package_name} ${entry.state} ${entry.id}`)
}
