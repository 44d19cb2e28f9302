import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'

/**
 * Pings at every beat and ends a socket from which nothing at all came since the last one. A paused socket is left
 * alone: what its peer said waits unread.
 */
export function startHeartbeat(socket: WebSocket, wire: Socket, beat_ms: number): void {
  let read = -1
  const beat = setInterval(() => {
    if (socket.isPaused) {
      read = -1
      return
    }
    if (wire.bytesRead === read) {
      socket.terminate()
      return
    }
    read = wire.bytesRead
    socket.ping()
  }, beat_ms)
  beat.unref()
  socket.once('close', () => clearInterval(beat))
}
