import { damageTests } from '../search/vectors/damage.ts'

damageTests((files) => files)
