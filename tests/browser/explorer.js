// The program inside a Compiler Explorer link, as the site would open it.
'use strict';
const zlib = require('node:zlib');

function programOf(link) {
  const state = link.match(/^https:\/\/godbolt\.org\/clientstate\/([\w-]+)$/);
  if (state) {
    const text = zlib.inflateSync(Buffer.from(state[1], 'base64url')).toString('utf8');
    return JSON.parse(text).sessions[0].source;
  }
  const fragment = link.match(/^https:\/\/godbolt\.org\/#(g:.*)$/);
  if (!fragment) throw new Error(`no link of Compiler Explorer: ${link.slice(0, 60)}`);
  const rison = decodeURIComponent(fragment[1].replaceAll('+', '%20'));
  return rison.match(/source:'((?:[^!']|!.)*)'/s)[1].replace(/!(.)/gs, '$1');
}

module.exports = { programOf };
