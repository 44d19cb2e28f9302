import { damageTests } from './damage.ts'

// Every file of a store is damaged in test/soak; here one of each kind that an answer stands on.
const kinds = ['/data/', '.manifest', 'sums']
damageTests((files) => kinds.flatMap((kind) => files.find((file) => file.includes(kind)) ?? []))
