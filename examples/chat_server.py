"""An OpenAI-compatible chat server without a model: it asks for the rover's status, then answers.

python examples/chat_server.py [PORT]
"""

from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import json
import sys

ASK = {'name': 'get_status', 'arguments': '{}'}


def reply_to(messages: list[dict]) -> dict:
    """A tool call first; once the result of that call is the last message, a text."""
    last = messages[-1]
    if last['role'] == 'tool':
        return {'role': 'assistant', 'content': f'The rover says: {last["content"][:200]}'}
    call = {'id': 'call_1', 'type': 'function', 'function': ASK}
    return {'role': 'assistant', 'content': None, 'tool_calls': [call]}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        tools = [tool['function']['name'] for tool in request.get('tools', [])]
        print(f'{self.path}: {len(request["messages"])} messages, tools: {tools}', flush=True)
        message = reply_to(request['messages'])
        reason = 'tool_calls' if message.get('tool_calls') else 'stop'
        body = json.dumps(
            {
                'id': 'chatcmpl-1',
                'object': 'chat.completion',
                'created': 0,
                'model': request['model'],
                'choices': [{'index': 0, 'message': message, 'finish_reason': reason}],
                'usage': {'prompt_tokens': 0, 'completion_tokens': 0, 'total_tokens': 0},
            }
        ).encode()
        self.send_response(200)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Quiet: one line for each request is enough."""


if __name__ == '__main__':
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    server = ThreadingHTTPServer(('127.0.0.1', port), Handler)
    print(f'http://127.0.0.1:{server.server_port}/v1', flush=True)
    with suppress(KeyboardInterrupt):
        server.serve_forever()
