const maxReasonLength = 2000

/** A provider's error text, bounded in length, without URLs and without the given secrets. */
export function cleanReason(words: string, secrets: readonly string[] = []): string {
  const text = secrets.reduce(
    (clean, secret) => (secret === '' ? clean : clean.replaceAll(secret, '…')),
    words,
  )
  return text.replace(/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>\\]+/gi, '…').slice(0, maxReasonLength)
}
