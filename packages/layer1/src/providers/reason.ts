const MAX_REASON = 2000

/** A provider's words for people: of bounded length, without addresses of servers, without the secrets given. */
export function cleanReason(words: string, secrets: readonly string[] = []): string {
  const text = secrets.reduce(
    (clean, secret) => (secret === '' ? clean : clean.replaceAll(secret, '…')),
    words,
  )
  return text.replace(/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>\\]+/gi, '…').slice(0, MAX_REASON)
}
