#include <iostream>

int main() { std::cout << "attend " << ATTEND_VERSION << '\n'; }
