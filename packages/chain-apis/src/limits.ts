/**
 * The most bytes of an Ogmios request and of an evaluation: a transaction in hex with the outputs that it
 * needs, which may hold 204,800 bytes of reference scripts.
 */
export const maxRequestLength = 512 * 1024

/** The most levels of arrays and objects in an Ogmios request. Answers repeat its `id`. */
export const maxRequestDepth = 32

// The most entries of the lists of one Ogmios request. Each entry but a reference costs a query.
export const maxPoints = 100
export const maxAddresses = 100
export const maxCredentials = 100
export const maxReferences = 1000
