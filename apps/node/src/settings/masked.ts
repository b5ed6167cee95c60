/** An address without what must not be shown: user, password and parameters. */
export function maskedUrl(url: string): string {
  if (!URL.canParse(url)) return '(an address that cannot be shown)'
  const { protocol, host, pathname, username, password } = new URL(url)
  return `${protocol}//${username || password ? '***@' : ''}${host}${pathname === '/' ? '' : pathname}`
}
