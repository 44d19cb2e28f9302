import { damageTests, kinds } from './damage.ts'

// Every file of a store is damaged in test/soak.
damageTests((files) => kinds.flatMap((kind) => files.find((file) => file.includes(kind)) ?? []))
