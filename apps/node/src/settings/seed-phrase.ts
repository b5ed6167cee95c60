/** What all seed phrases have in common. */
export const seedPhrase = {
  pattern: '^\\s*([a-z]+\\s+){23}[a-z]+\\s*$',
  allowed: '24 words of BIP-39',
  defaultNote: "the devnet's",
  secret: true,
} as const
