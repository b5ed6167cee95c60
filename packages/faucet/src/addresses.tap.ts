import t from 'tap'
import { addressText, build, claimBody, enterprise } from './test/build.js'

const hash = Buffer.alloc(28, 0x11)
const other = Buffer.alloc(28, 0x22)
const pointer = Buffer.from('81021a05', 'hex')

t.test('checks addresses in the order of the documented codes', async (t) => {
  const { post, asked } = await build(t)
  const errors = {
    ADDRESS_INVALID: 'The address is not a valid bech32 address',
    ADDRESS_NETWORK_MISMATCH: 'The address belongs to another network',
    ADDRESS_NO_PAYMENT_CREDENTIAL: 'The address has no payment credential',
    ADDRESS_SCRIPT: 'The address belongs to a script',
  }
  const refused: Record<keyof typeof errors, Record<string, string>> = {
    ADDRESS_INVALID: {
      empty: '',
      'not bech32': 'hello',
      'wrong checksum': enterprise.replace(/.$/, (last) => (last === 'q' ? 'p' : 'q')),
      'mixed case': `A${enterprise.slice(1)}`,
      'white space': ` ${enterprise}`,
      Byron: 'Ae2tdPwUPEZFSi1cTyL1ZL6bgixhc2vSy5heg6Zg9uP7PpumkAJ82Qprt8b',
      'pool id': addressText('pool', 6, 0, hash),
      'a byte short': addressText('addr_test', 6, 0, hash.subarray(1)),
      'unknown type': addressText('addr_test', 9, 0, hash),
      'prefix of a stake address': addressText('stake_test', 6, 0, hash),
    },
    ADDRESS_NETWORK_MISMATCH: {
      mainnet: addressText('addr', 6, 1, hash),
      'stake address of mainnet': addressText('stake', 14, 1, hash),
      'script of mainnet': addressText('addr', 7, 1, hash),
      'only the prefix is of mainnet': addressText('addr', 6, 0, hash),
      'only the prefix is of a test network': addressText('addr_test', 6, 1, hash),
    },
    ADDRESS_NO_PAYMENT_CREDENTIAL: {
      'stake key': addressText('stake_test', 14, 0, hash),
      'stake script': addressText('stake_test', 15, 0, hash),
    },
    ADDRESS_SCRIPT: {
      enterprise: addressText('addr_test', 7, 0, hash),
      'base with stake key': addressText('addr_test', 1, 0, hash, other),
      'base with stake script': addressText('addr_test', 3, 0, hash, other),
      pointer: addressText('addr_test', 5, 0, hash, pointer),
    },
  }
  for (const [code, addresses] of Object.entries(refused)) {
    for (const [name, address] of Object.entries(addresses)) {
      const answer = await post({ ...claimBody, address })
      t.equal(answer.status, 400, `${code}: ${name}`)
      t.equal(answer.body, JSON.stringify({ error: errors[code as keyof typeof errors], code }), name)
    }
  }
  t.same(asked, [])

  for (const address of [
    enterprise.toUpperCase(),
    addressText('addr_test', 0, 0, hash, other),
    addressText('addr_test', 2, 0, hash, other),
    addressText('addr_test', 4, 0, hash, pointer),
  ]) {
    t.equal((await post({ ...claimBody, address })).status, 200, address)
  }
  t.equal(asked.length, 4)
})
