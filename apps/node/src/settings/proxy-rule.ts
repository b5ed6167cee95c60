import { trustedProxies } from '../server/trusted-proxies.js'
import type { Settings } from './schema.js'

/** Of TRUST_PROXY, each part must be an address or a network. */
export function ruleOfProxies({ TRUST_PROXY }: Pick<Settings, 'TRUST_PROXY'>): string[] {
  try {
    trustedProxies(TRUST_PROXY)
    return []
  } catch (error) {
    const part = error instanceof TypeError ? error.message : TRUST_PROXY
    return [`TRUST_PROXY names "${part}": it must be an IP address, or a network such as 10.0.0.0/8.`]
  }
}
