import { isSettingsError } from '../../errors.js'
import { readSettings } from '../read.js'

export function problemsOf(environment: Record<string, string>): readonly string[] {
  try {
    readSettings(environment)
  } catch (error) {
    if (isSettingsError(error)) return error.problems
    throw error
  }
  return []
}

/** Settings of a public network, without keys. */
export const preprod: Record<string, string> = {
  NETWORK: 'preprod',
  LAYER1_PROVIDER: 'kupmios',
  KUPO_URL: 'http://127.0.0.1:1442',
  OGMIOS_URL: 'http://127.0.0.1:1337',
  DATABASE_URL: 'postgres://db/ledger',
  DEPLOYMENT_OUTPUT: `${'ab'.repeat(32)}#0`,
  OPERATOR_TOKEN: 'open-sesame',
}
export const phrase = `${'test '.repeat(23)}sauce`
