import { BlockList, isIP } from 'node:net'

/** IP addresses, some of them as networks. */
export interface AddressSet {
  has(address: string): boolean
}

/** The addresses and networks (CIDR) of these texts. Throws TypeError or RangeError for a text that is neither. */
export function addressSet(texts: readonly string[]): AddressSet {
  const list = new BlockList()
  for (const text of texts) {
    const [address = '', bits, ...more] = text.split('/')
    const family = familyOf(address)
    if (!family || more.length > 0) throw new TypeError(`${text} is not an IP address or a network.`)
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN, family)
  }
  return {
    has(address) {
      const family = texts.length === 0 ? undefined : familyOf(address)
      return family !== undefined && list.check(address, family)
    },
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(address)
  if (version === 0) return undefined
  return version === 4 ? 'ipv4' : 'ipv6'
}
