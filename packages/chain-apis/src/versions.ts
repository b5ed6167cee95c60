/** The major versions of Ogmios whose API can be served. */
export const ogmiosVersions = ['6', '7'] as const

export type OgmiosVersion = (typeof ogmiosVersions)[number]
