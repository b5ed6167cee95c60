import { writeFile } from 'node:fs/promises'
import { command } from '../frame/command.js'
import { CommandError } from '../frame/errors.js'

export const keygen = command(
  'keygen',
  'Write a new seed phrase to a file that only its owner can read; print its address',
  {
    out: { type: 'string', valueHint: 'path', required: true, description: 'The new file' },
    network: {
      type: 'enum',
      options: ['devnet', 'preview', 'preprod', 'mainnet'],
      default: 'devnet',
      description: 'Network of the address',
    },
  },
  async ({ out, network }) => {
    const [{ keysFromSeedPhrase }, { generateMnemonic }, { wordlist }] = await Promise.all([
      import('@ratatosk/ledger/builder'),
      import('@scure/bip39'),
      import('@scure/bip39/wordlists/english.js'),
    ])
    const phrase = generateMnemonic(wordlist, 256)
    const keys = keysFromSeedPhrase(phrase, { networkId: network === 'mainnet' ? 1 : 0 })
    await writeSecret(out, `${phrase}\n`)
    const keyHash = Buffer.from(keys.payment.hash).toString('hex')
    return {
      value: { file: out, address: keys.addressText, keyHash },
      lines: [
        `The seed phrase is in ${out}: keep a copy in a safe place.`,
        `address   ${keys.addressText}`,
        `key hash  ${keyHash}`,
        `Set OPERATOR_SEED_PHRASE_FILE, WATCHER_SEED_PHRASE_FILE, ADMIN_SEED_PHRASE_FILE or ` +
          `FAUCET_SEED_PHRASE_FILE to ${out}.`,
      ],
    }
  },
)

/** Never overwrites a key. */
async function writeSecret(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error
    const reason = code === 'EEXIST' ? 'it exists, and a key is never overwritten' : String(code)
    throw new CommandError('CLI_KEY_FILE', `"${path}" cannot be written: ${reason}. Choose another file.`)
  }
}
