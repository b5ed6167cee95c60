const phrase = `${Array.from({ length: 23 }, () => 'abandon').join(' ')} art`

/** Settings of a node of a public network that commits nothing. @param url base URL of its layer 1 */
export function publicNetwork(
  NETWORK: 'preprod' | 'mainnet',
  url = 'http://127.0.0.1:9',
): Readonly<Record<string, string>> {
  return {
    NETWORK,
    LAYER1_PROVIDER: 'blockfrost',
    BLOCKFROST_URL: `${url}/blockfrost/api/v0`,
    DEPLOYMENT_OUTPUT: `${'ab'.repeat(32)}#0`,
    OPERATOR_TOKEN: 'open-sesame',
    OPERATOR_SEED_PHRASE: phrase,
    ADMIN_SEED_PHRASE: phrase,
    AUTO_INIT: 'false',
    AUTO_COMMIT: 'false',
    AUTO_MERGE: 'false',
  }
}
