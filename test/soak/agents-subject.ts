// Agents that fail in every way, by the first step of the path, in a process of their own.
import { serve } from '../net/support.ts'
import { faults } from '../support/faulty-agents.ts'

process.on('disconnect', () => process.exit())
const faulty = await serve((request, response) => {
  request.resume()
  response.on('error', () => {})
  request.once('end', () => faults[Number(request.url?.split('/')[1])]?.[1](request, response))
})
process.send?.({ faulty: faulty.origin })
